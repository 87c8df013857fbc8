"""Figure 6 on a testbed: some strategies on four and on eight ranks."""

from __future__ import annotations

from harness.declare import Task, claims, ordering
from reproductions.paro.measured_steps import quantities as q
from reproductions.paro.measured_steps.experiment import steps
from reproductions.paro.measured_steps.layouts import scaling_layout
from reproductions.paro.measured_steps.scopes import COUNTS, MEASURED, faster
from reproductions.paro.measured_steps.table import table_of

NUM_RANKS = (4, 8)
ORDERS = (("IGG", "GGG"), ("IIG", "IGG"), ("NIG", "IGG"), ("NIG", "NGG"))
"""Faster and slower, as section 4.5 has them."""
task = Task(
    "paro/measured_scaling",
    own_kind="ablation",
    reads=(steps,),
    table=table_of("scaling"),
    layout=scaling_layout(NUM_RANKS),
    claims=claims(
        "section 4.5",
        (
            "speeds_in_order",
            MEASURED,
            faster(
                *ORDERS, at=[(f", {number} ranks", {"num_ranks": number}) for number in NUM_RANKS]
            ),
            "NIG and IIG are faster than IGG, IGG than ZeRO-3, and NIG than ZeRO-2.",
        ),
        (
            "ratios_in_order",
            MEASURED,
            ordering(q.speedups, "ratio", strict=True)
            .naming("NIG over ZeRO", "IIG over NIG")
            .measuring("speed-up ratio of the one less that of the other"),
            "IIG scales best, then NIG, then ZeRO.",
        ),
    )
    + claims("appendix A.3, formulas 1 and 2", COUNTS),
    figure="figures:scaling_panels",
    caption="Rows per second against ranks in groups of two, measured (left) and predicted by"
    " communication alone at the rates that the ranks measured (right). Bars: standard error over"
    " seeds.",
    alt="Two panels of five lines from four to eight ranks: measured rows per second of IIG and"
    " NIG above those of ZeRO-2, IGG and ZeRO-3; predicted ones likewise.",
)  # fmt: skip
