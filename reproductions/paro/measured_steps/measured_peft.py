"""Table 13 and Figure 4 on a testbed: a pair of rank one beside each frozen matrix trains."""

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
    "paro/measured_peft",
    own_kind="ablation",
    reads=(steps,),
    table=table_of("peft"),
    layout=(
        step_layout("peft", "rail", "Optimizer steps, adapters of rank one trained"),
        gain_layout("LLaMA-65B ING", stages=(3,)),
    ),
    claims=claims(
        "section 4.3",
        (
            "ing_faster_than_zero3",
            MEASURED,
            faster(("ING", "GGG")),
            "ING trains adapters faster than ZeRO-3.",
        ),
    )
    + claims("abstract, section 4.3 and Figure 4", FOLLOWS)
    + claims("ours, beside Figures 3 and 4", BEATS_MEMORY)
    + claims("appendix A.3, formulas 1 and 2", COUNTS),
    figure="figures:step_panels",
    caption="Left: seconds per optimizer step, measured (bars) and predicted by communication alone"
    " (marks). Right: bytes that a rank keeps. Adapters of rank one train.",
    alt="Horizontal bars of seconds per step for 14 strategies, DDP and three settings of FSDP2:"
    " next to nothing where parameters stay whole, longest where they are gathered between groups;"
    " marks of the prediction beside them; right, bars of bytes held.",
)
