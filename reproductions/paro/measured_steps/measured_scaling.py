"""Figure 6 on a testbed: some strategies on four and on eight ranks."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, claims, more_than, ordering
from reproductions.paro.measured_steps import quantities as q
from reproductions.paro.measured_steps.experiment import steps
from reproductions.paro.measured_steps.layouts import scaling_layout
from reproductions.paro.measured_steps.scopes import COUNTS, INTERFACES, MEASURED
from reproductions.paro.measured_steps.table import table_of

NUM_RANKS = (4, 8)
ORDERS = (("GGG", "IGG"), ("IGG", "IIG"), ("IGG", "NIG"), ("NGG", "NIG"))
"""Slower and faster, as section 4.5 has them."""
task = Task(
    "paro/measured_scaling",
    own_kind="ablation",
    reads=(steps,),
    table=table_of("scaling"),
    layout=scaling_layout(NUM_RANKS),
    claims=claims(
        "section 4.5",
        *(
            (
                f"order_{number}",
                MEASURED,
                more_than(partial(q.speed_ratios, pairs=ORDERS, num_ranks=number), 1, "ratio")
                .naming(*(f"{fast} over {slow}" for slow, fast in ORDERS)),
                f"On {number} ranks over shaped links, training a small net, NIG and IIG are faster"
                " than IGG, IGG than ZeRO-3, and NIG than ZeRO-2.",
            )
            for number in NUM_RANKS
        ),
        (
            "ratios_in_order",
            MEASURED,
            ordering(q.speedups, "ratio", strict=True)
            .naming("NIG over ZeRO", "IIG over NIG")
            .measuring("speed-up ratio of the one less that of the other"),
            "Speed-up ratios are in the paper's order, IIG above NIG above ZeRO-2 and 3 (the paper:"
            " 0.92, 0.84 and 0.63 from 16 to 128 GPUs; here from four ranks to eight, rows per"
            " second over twice those of four).",
        ),
    )
    + claims("section 2.1 and appendix A.3, formulas 1 and 2", *COUNTS)
    + claims("ours, beside those formulas", *INTERFACES),
    figure="figures:scaling_panels",
    caption="Rows per second on four and eight ranks, groups of two: measured, and predicted by"
    " communication alone at the rates that ranks measured. Lines: standard error over seeds. The"
    " paper's ratios are of 16 to 128 GPUs, and not drawn.",
    alt="Two panels of five lines from four to eight ranks: measured rows per second of IIG and"
    " NIG above those of ZeRO-2, IGG and ZeRO-3; predicted ones likewise.",
)  # fmt: skip
