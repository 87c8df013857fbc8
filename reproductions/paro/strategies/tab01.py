"""Table 1: the 27 strategies, and the 14 that are kept."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Scope,
    Task,
    at_most,
    by_theory,
    claims,
    equal,
    less_than,
    more_than,
)
from reproductions.paro.method.strategy import ALL
from reproductions.paro.strategies import quantities as q
from reproductions.paro.strategies import table
from reproductions.paro.strategies.experiment import costs, sweeps

EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere="a rule and formulas are the same at any scale")
PRINTED = replace(EXACT, threshold_from="paper")
SAID: Scope = by_theory(
    profiles=CPU, elsewhere="a formula is at its scale at cpu already", deterministic=True
)
BY_FORMULA = EXACT.at(*CPU)
"""What the paper says and its formulas can only give: of PaRO-CC in two steps Z >= X, and
2 Z >= 2 X + Y from two groups on, and X + Y >= Z."""
SAVED = "largest share saved"
SAVERS = ("NGI", "GNI")
FLAT_FRONT = (
    *("NNI", "NNG", "NII", "NIG", "NGG", "INI", "ING", "IIG", "IGG"),
    *("GNI", "GNG", "GIG", "GGG"),
)
HIER_FRONT = tuple(each.letters for each in ALL if each.states == "G")
task = Task(
    "paro/tab01",
    reads=(sweeps, costs),
    table=table.STRATEGIES,
    layout=table.LAYOUT,
    claims=claims(
        "Table 1 and section 3.1.1",
        (
            "all_combinations",
            EXACT,
            equal(q.num_strategies, 27, "strategies"),
            "Three states at one of three granularities each give 27 strategies, none twice.",
        ),
        (
            "kept",
            PRINTED,
            equal(
                partial(q.num_with, effective=1), 14, "strategies",
                paper_value=partial(q.printed, name="num_effective"),
            ),
            "14 strategies split optimizer states at least as fine as parameters and gradients.",
        ),
        (
            "left_out",
            PRINTED,
            equal(
                partial(q.num_with, effective=0), 13, "strategies",
                paper_value=partial(q.printed, name="num_eliminated"),
            ),
            "13 strategies split them coarser than one of the two.",
        ),
        (
            "coarser_states_cost_memory",
            EXACT,
            more_than(q.least_memory_ratio, 1, "ratio"),
            "A strategy that is left out takes more memory than the one that is kept for it, with"
            " states as fine as the finer of the others (least ratio over 216 settings).",
        ),
        (
            "coarser_states_save_nothing",
            SAID,
            at_most(partial(q.largest_saving, world="flat"), 0, "share").measuring(SAVED),
            "Communication of a strategy that is left out takes no less time than that of the one"
            " that is kept for it, where collectives of all GPUs are one ring, by Tables 4 to 7 as"
            " rebuilt (largest share of the kept one's time that it saves, over 216 settings).",
        ),
        (
            "coarser_states_save_nothing_with_paro_cc",
            BY_FORMULA,
            at_most(partial(q.largest_saving, world="hier"), 0, "share").measuring(SAVED),
            "Communication of a strategy that is left out takes no less time than that of the one"
            " that is kept for it, where collectives are PaRO-CC's, by Tables 4 to 7 as rebuilt"
            " (largest share of the kept one's time that it saves, over 216 settings).",
        ),
    )
    + claims(
        "our sweep; the paper has none",
        (
            "who_saves_in_one_ring",
            EXACT,
            equal(partial(q.other_savers, world="flat", named=SAVERS), 0, "strategies"),
            "With one ring NGI and GNI are all that save communication on the one that is kept for"
            " them: a step between groups stands in for a ring of all GPUs (strategies of which"
            " this is wrong).",
        ),
        (
            "front_in_one_ring",
            EXACT,
            equal(partial(q.off_the_front, world="flat", named=FLAT_FRONT), 0, "strategies"),
            "With one ring these 13 are on the front of time and memory somewhere: NNI, NNG, NII,"
            " NIG, NGG, INI, ING, IIG, IGG, GNI, GNG, GIG, GGG; never III, which sends what IIG"
            " sends and holds more (strategies of which this is wrong).",
        ),
        (
            "front_with_paro_cc",
            EXACT,
            equal(partial(q.off_the_front, world="hier", named=HIER_FRONT), 0, "strategies"),
            "With PaRO-CC the nine that split optimizer states over all GPUs are on the front"
            " somewhere, and no other (strategies of which this is wrong).",
        ),
        (
            "iig_takes_what_iii_takes",
            EXACT,
            equal(partial(q.time_error, one="IIG", other="III"), 0, "share", tolerance=1e-9),
            "IIG's communication takes what III's takes, at all of the paper's inputs (largest"
            " relative difference).",
        ),
    )
    + claims(
        "Figure 1 and the text beside it, on NIG and IIG",
        (
            "memory_of_nig",
            BY_FORMULA,
            less_than(
                partial(q.memory_ratios, pairs=(("NGG", "NIG"), ("NIG", "NNG"))), 1, "ratio"
            ).naming("NGG over NIG", "NIG over NNG"),
            "NIG holds more than NGG and less than NNG (largest ratios over the paper's inputs).",
        ),
        (
            "memory_of_iig",
            BY_FORMULA,
            less_than(
                partial(q.memory_ratios, pairs=(("GGG", "IIG"), ("IIG", "NNG"), ("IIG", "NGG"))),
                1, "ratio",
            ).naming("GGG over IIG", "IIG over NNG", "IIG over NGG"),
            "IIG holds more than GGG and less than NNG, and here less than NGG too, as it usually"
            " does (largest ratios over the paper's inputs).",
        ),
    )
    + claims(
        "section 4.3",
        (
            "iig_below_iii",
            BY_FORMULA,
            less_than(
                partial(
                    q.memory_ratio_at, one="IIG", other="III", model="LLaMA-65B",
                    trainable_share=1 / 16,
                ),
                1, "ratio",
            ),
            "With 1/16 of LLaMA-65B trained IIG holds less than III.",
        ),
    ),
    figure="figures:planes",
    caption="Bytes that a GPU holds against seconds of communication per step, LLaMA-7B with all"
    " parameters trained on 32 GPUs in groups of 8, B = 80 and B' = 2000 Gbit/s, ten micro-batches."
    " Filled: the 14 that the paper keeps; hollow: the 13 that it leaves out. The line joins those"
    " that no other beats in time or memory without losing in the other. By formula: nothing was"
    " run, and no seed changes it. The paper draws no such figure.",
    alt="Two panels of points on logarithmic axes, memory against time. A falling line joins NNI,"
    " NII, IIG, IGG and GGG with one ring, and NNG, NIG, IIG, IGG and GGG with PaRO-CC, which is"
    " several times faster at the right end; hollow points lie above the line.",
)  # fmt: skip
