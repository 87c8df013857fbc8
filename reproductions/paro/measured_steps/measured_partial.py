"""Table 12 and Figure 3 on a testbed: one of 16 equal layers trains."""

from __future__ import annotations

from harness.declare import Task, claims
from reproductions.paro.measured_steps.experiment import steps
from reproductions.paro.measured_steps.layouts import gain_layout, step_layout
from reproductions.paro.measured_steps.scopes import (
    BEATS_MEMORY,
    COUNTS,
    FOLLOWS,
    MEASURED,
    faster,
)
from reproductions.paro.measured_steps.table import table_of

task = Task(
    "paro/measured_partial",
    own_kind="ablation",
    reads=(steps,),
    table=table_of("partial"),
    layout=(
        step_layout("partial", "rail", "Optimizer steps, 1/16 of the parameters trained"),
        gain_layout(
            "LLaMA-7B NIG", "LLaMA-7B NII", "LLaMA-65B III", "LLaMA-65B IIG", stages=(2, 3)
        ),
    ),
    claims=claims(
        "section 4.3",
        (
            "faster_than_zero2",
            MEASURED,
            faster(("NIG", "NGG"), ("NII", "NGG")),
            "NIG and NII train 1/16 of the parameters faster than ZeRO-2.",
        ),
        (
            "faster_than_zero3",
            MEASURED,
            faster(("III", "GGG"), ("IIG", "GGG")),
            "III and IIG train 1/16 of the parameters faster than ZeRO-3.",
        ),
    )
    + claims("abstract, section 4.3 and Figure 3", FOLLOWS)
    + claims("ours, beside Figures 3 and 4", BEATS_MEMORY)
    + claims("appendix A.3, formulas 1 and 2", COUNTS),
    figure="figures:step_panels",
    caption="Left: seconds per optimizer step, measured (bars) and predicted by communication alone"
    " (marks). Right: bytes that a rank keeps. One of 16 equal layers trains.",
    alt="Horizontal bars of seconds per step for 14 strategies, DDP and three settings of FSDP2:"
    " next to nothing where parameters stay whole, longest where they are gathered between groups;"
    " marks of the prediction beside them; right, bars of bytes held.",
)
