"""Table 12 and Figure 3 on a testbed: one of 16 equal layers trains."""

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
            q.MEASURED,
            q.faster(("NIG", "NGG"), ("NII", "NGG")),
            "NIG and NII train 1/16 of the parameters faster than ZeRO-2.",
        ),
        (
            "faster_than_zero3",
            q.MEASURED,
            q.faster(("III", "GGG"), ("IIG", "GGG")),
            "III and IIG train 1/16 of the parameters faster than ZeRO-3.",
        ),
    )
    + q.of_strategies("Figure 3"),
    figure="figures:step_panels",
    caption=f"{PART_CAPTION} One of 16 equal layers trains.",
    alt=PART_ALT,
)
