"""Table 1: the 27 strategies, and the 14 that are kept."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Criterion,
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

EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere="a rule is the same at any scale")
PRINTED = replace(EXACT, threshold_from="paper")
SAID: Scope = by_theory(
    profiles=CPU, elsewhere="a formula is the same at any scale", deterministic=True
)
BY_FORMULA = EXACT.at(*CPU)
"""What the paper says and its formulas can only give: of PaRO-CC in two steps Z >= X, and
2 Z >= 2 X + Y from two groups on, and X + Y >= Z."""
SAVERS = ("NGI", "GNI")
FRONTS = {
    "flat": (
        *("NNI", "NNG", "NII", "NIG", "NGG", "INI", "ING", "IIG", "IGG"),
        *("GNI", "GNG", "GIG", "GGG"),
    ),
    "hier": tuple(each.letters for each in ALL if each.states == "G"),
}
LIGHTER = (
    *(("NGG", "NIG"), ("NIG", "NNG")),
    *(("GGG", "IIG"), ("IIG", "III"), ("IIG", "NGG"), ("IIG", "NNG")),
)
"""The first of each pair holds less."""


def saves_nothing(world: str) -> Criterion:
    """Ask that no strategy that is left out takes less time than the one kept for it."""
    return at_most(partial(q.largest_saving, world=world), 0, "share").measuring(
        "largest share of its time saved"
    )


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
            "Three states at three granularities give 27 strategies.",
        ),
        (
            "kept",
            PRINTED,
            equal(
                partial(q.num_with, effective=1), 14, "strategies",
                paper_value=partial(q.printed, name="num_effective"),
            ),
            "14 strategies split optimizer states at least as finely as parameters and gradients.",
        ),
        (
            "coarser_states_cost_memory",
            EXACT,
            more_than(q.least_memory_ratio, 1, "ratio"),
            "Every strategy left out takes more memory than the one kept in its place.",
        ),
        (
            "coarser_states_save_nothing",
            SAID,
            saves_nothing("flat"),
            "A strategy left out communicates at least as long as the one kept in its place.",
        ),
        (
            "none_saves_with_paro_cc",
            BY_FORMULA,
            saves_nothing("hier"),
            "With PaRO-CC a strategy left out communicates at least as long as the one kept.",
        ),
    )
    + claims(
        "our sweep; the paper has none",
        (
            "ngi_and_gni_save",
            EXACT,
            equal(partial(q.other_savers, named=SAVERS), 0, "strategies"),
            "With one ring NGI and GNI save communication, and no other strategy left out does.",
        ),
        (
            "pareto_front",
            EXACT,
            at_most(partial(q.off_the_front, named=FRONTS), 0, "strategies").naming(*FRONTS),
            "The front of time and memory has nine strategies with PaRO-CC and 13 with one ring,"
            " never III.",
        ),
        (
            "iig_as_fast_as_iii",
            EXACT,
            equal(partial(q.time_error, one="IIG", other="III"), 0, "share", tolerance=1e-9),
            "IIG communicates for as long as III.",
        ),
    )
    + claims(
        "Figure 1 and the text beside it, and section 4.3, on memory",
        (
            "memory_in_order",
            BY_FORMULA,
            less_than(partial(q.memory_ratios, pairs=LIGHTER), 1, "ratio").naming(
                *(f"{one} over {other}" for one, other in LIGHTER)
            ),
            "NIG holds more than NGG and less than NNG; IIG more than GGG and less than III, NGG"
            " and NNG.",
        ),
    ),
    figure="figures:planes",
    caption="Memory of a GPU against communication per step for LLaMA-7B, all parameters trained,"
    " at the paper's inputs. Filled: the 14 strategies that the paper keeps; hollow: the 13 that it"
    " leaves out. The line joins those that no other strategy beats in both. The paper has no such"
    " figure.",
    alt="Two panels of points on logarithmic axes, memory against time. A falling line joins NNI,"
    " NII, IIG, IGG and GGG with one ring, and NNG, NIG, IIG, IGG and GGG with PaRO-CC, which is"
    " several times faster at the right end; hollow points lie above the line.",
)  # fmt: skip
