"""Table 13 and Figure 4 on a testbed: a pair of rank one beside each frozen matrix trains."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, claims, within
from reproductions.paro.measured_steps import quantities as q
from reproductions.paro.measured_steps.experiment import steps
from reproductions.paro.measured_steps.layouts import gain_layout, step_layout
from reproductions.paro.measured_steps.scopes import (
    COUNTS,
    INTERFACES,
    MEASURED,
    faster,
    follows_guideline,
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
        faster("ing_over_zero3", "ING", "GGG", "ZeRO-3", "of LLaMA-65B by 44 %"),
    )
    + claims(
        "abstract, section 4.3 and Figure 4",
        follows_guideline("follows_guideline", q.RAIL, "a link between groups for each rank"),
    )
    + claims(
        "ours, beside section 4.3",
        (
            "ing_near_iig",
            MEASURED.asked_by_us(),
            within(partial(q.speed_ratio, one="ING", over="IIG"), 0.95, 1.05, "times the speed"),
            "ING is as fast as IIG, to 5 %.",
        ),
    )
    + claims("section 2.1 and appendix A.3, formulas 1 and 2", *COUNTS)
    + claims("ours, beside those formulas", *INTERFACES),
    figure="figures:step_panels",
    caption="Seconds of an optimizer step of four micro-batches on four ranks in two groups, where"
    " adapters of rank one train (1/192 beside what is frozen): bars measured, marks predicted from"
    " the rates that ranks measured, by communication alone; right: bytes that a rank keeps.",
    alt="Horizontal bars of seconds per step for 14 strategies, DDP and three settings of FSDP2:"
    " next to nothing where parameters stay whole, longest where they are gathered between groups;"
    " marks of the prediction beside them; right, bars of bytes held.",
)
