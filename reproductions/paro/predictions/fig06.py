"""Figure 6, its predicted half: LLaMA-7B on 16 to 128 GPUs."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, claims, equal, ordering
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import ONE_RING, predictions
from reproductions.paro.predictions.layouts import WAYS, scaling_layout
from reproductions.paro.predictions.scopes import EXACT, FORMULA, SET
from reproductions.paro.predictions.table import SCALING

task = Task(
    "paro/fig06",
    reads=(predictions,),
    table=SCALING,
    layout=tuple(scaling_layout(world) for world in WAYS),
    claims=claims(
        "section 4.5",
        *(
            (
                f"order_{world}",
                SET if world == "flat" else FORMULA,
                at_least(
                    partial(q.least_speed_ratio, where={**ONE_RING, "world": world}), 1, "ratio"
                ),
                "At 16, 32, 64 and 128 GPUs NIG and IIG are at least as fast as IGG, IGG as ZeRO-3,"
                f" and NIG as ZeRO-2, by communication alone (least ratio; {words}).",
            )
            for world, words in WAYS.items()
        ),
    )
    + claims(
        "appendix A.3, formulas 1 and 2",
        (
            "iig_against_nig",
            EXACT,
            equal(q.wrong_signs, 0, "settings"),
            "With collectives of all GPUs as one ring IIG is faster than NIG just where 2 s Y + X <"
            " Z: Y of a group's gradients, X between groups, Z of all GPUs (s = 10 and 40, where"
            " both occur).",
        ),
    )
    + claims(
        "ours, beside the speed-up ratios of section 4.5",
        *(
            (
                f"ratios_in_order_{word}",
                FORMULA.asked_by_us(),
                ordering(partial(q.speedups, zero=zero, paro=paro), "ratio", strict=True)
                .naming("NIG over ZeRO", "IIG over NIG")
                .measuring("speed-up ratio of the one less that of the other"),
                "By communication alone speed-up ratios are in the text's order, IIG above NIG"
                " above ZeRO-2 and 3:"
                f" {words}.",
            )
            for word, zero, paro, words in (
                ("flat", "flat", "flat", WAYS["flat"]),
                ("hier", "hier", "hier", WAYS["hier"] + ", ZeRO's too"),
                ("mixed", "flat", "hier", "ZeRO's as one ring, PaRO's by PaRO-CC"),
            )
        ),
    ),
    figure="figures:scaling_panels",
    caption="LLaMA-7B, all parameters, 40 sequences per GPU and step: sequences per second by"
    " communication alone, nothing computed and memory ignored; and speed-up ratios, samples per"
    " second over those of 16 GPUs, over how many times as many GPUs, with collectives of all GPUs"
    " as one ring and by PaRO-CC, ZeRO's too. Nothing was run. Hollow: the ratios that the paper's"
    " text quotes for 16 to 128 GPUs, whose definition it does not print. ZeRO-2 lies under IGG in"
    " the first panel, and under ZeRO-3 in the others.",
    alt="Three panels against the number of GPUs: samples per second by strategy rise in"
    " proportion, IIG and NIG far above ZeRO; speed-up ratios with one ring all stay above 0.9,"
    " with PaRO-CC for all strategies, ZeRO too, they fall apart, IIG above NIG above ZeRO. Beside"
    " ZeRO's of one ring, those of IIG and NIG by PaRO-CC are the lower ones.",
)
