"""Figure 6, its predicted half: LLaMA-7B on 16 to 128 GPUs."""

from functools import partial

from harness.declare import SMALL_CHECK, Task, at_least, claims, equal, more_than
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import ONE_RING, predictions
from reproductions.paro.predictions.table import SCALING, WAYS, scaling_layout

SENT = {
    ("flat", "flat"): "one ring",
    ("hier", "hier"): "PaRO-CC",
    ("flat", "hier"): "PaRO-CC for PaRO alone",
}
"""How ZeRO's collectives of all GPUs are sent, and how PaRO's are."""
task = Task(
    "paro/fig06",
    reads=(predictions,),
    table=SCALING,
    layout=tuple(scaling_layout(world) for world in WAYS),
    claims=claims(
        "section 4.5",
        *(
            (
                id,
                scope,
                at_least(
                    partial(q.least_speed_ratio, where={**ONE_RING, "world": world}), 1, "ratio"
                ).measuring("least ratio of two speeds"),
                f"By the formulas with {words}, NIG and IIG are no slower than IGG, IGG than"
                " ZeRO-3, and NIG than ZeRO-2.",
            )
            for id, scope, world, words in (
                ("order_with_one_ring", q.SET, "flat", "one ring"),
                ("order_with_paro_cc", q.FORMULA, "hier", "PaRO-CC"),
            )
        ),
    )
    + claims(
        "appendix A.3, formulas 1 and 2",
        (
            "iig_against_nig",
            SMALL_CHECK,
            equal(q.wrong_signs, 0, "settings"),
            "With one ring IIG is faster than NIG exactly where 2 s Y + X < Z.",
        ),
    )
    + claims(
        "ours, beside the speed-up ratios of section 4.5",
        (
            "ratios_in_order",
            q.FORMULA.asked_by_us(),
            more_than(partial(q.speedup_gaps, ways=tuple(SENT)), 0, "ratio")
            .naming(
                *(
                    f"{pair}, {words}"
                    for words in SENT.values()
                    for pair in ("NIG over ZeRO", "IIG over NIG")
                )
            )
            .measuring("speed-up ratio of the one less that of the other"),
            "By the formulas IIG scales best, then NIG, then ZeRO.",
        ),
    ),
    figure="figures:scaling_panels",
    caption="Sequences per second by communication alone, and speed-up ratios: samples per second"
    " over those of 16 GPUs, over how many times as many GPUs. Hollow: the ratios that the paper's"
    " text quotes for 16 to 128 GPUs. ZeRO-2 lies under IGG in the first panel, and under ZeRO-3 in"
    " the others.",
    alt="Three panels against the number of GPUs. Samples per second rise in proportion, IIG and"
    " NIG far above ZeRO. With one ring all speed-up ratios stay above 0.9; with PaRO-CC they fall"
    " apart, IIG above NIG above ZeRO.",
)
