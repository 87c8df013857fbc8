"""Table 13 and Figure 4 on a testbed: a pair of rank one beside each frozen matrix trains."""

from harness.declare import Task, claims
from reproductions.paro.measured_steps import quantities as q
from reproductions.paro.measured_steps.experiment import steps
from reproductions.paro.measured_steps.table import (
    PART_ALT,
    PART_CAPTION,
    gain_layout,
    step_layout,
    table_of,
)

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
            q.MEASURED,
            q.faster(("ING", "GGG")),
            "ING trains adapters faster than ZeRO-3.",
        ),
    )
    + q.of_strategies("Figure 4"),
    figure="figures:step_panels",
    caption=f"{PART_CAPTION} Adapters of rank one train.",
    alt=PART_ALT,
)
