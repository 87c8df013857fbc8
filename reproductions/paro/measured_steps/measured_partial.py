"""Table 12 and Figure 3 on a testbed: one of 16 equal layers trains."""

from __future__ import annotations

from harness.declare import Task, claims
from reproductions.paro.measured_steps import quantities as q
from reproductions.paro.measured_steps.experiment import steps
from reproductions.paro.measured_steps.layouts import gain_layout, step_layout
from reproductions.paro.measured_steps.scopes import COUNTS, INTERFACES, faster, follows_guideline
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
        faster("nig_over_zero2", "NIG", "NGG", "ZeRO-2", "of LLaMA-7B by 15 %"),
        faster("nii_over_zero2", "NII", "NGG", "ZeRO-2", "of LLaMA-7B by 21 %"),
        faster("iii_over_zero3", "III", "GGG", "ZeRO-3", "of LLaMA-65B by 264 %"),
        faster("iig_over_zero3", "IIG", "GGG", "ZeRO-3", "of LLaMA-65B by 266 %"),
    )
    + claims(
        "abstract, section 4.3 and Figure 3",
        follows_guideline("follows_guideline", q.RAIL, "a link between groups for each rank"),
    )
    + claims("section 2.1 and appendix A.3, formulas 1 and 2", *COUNTS)
    + claims("ours, beside those formulas", *INTERFACES),
    figure="figures:step_panels",
    caption="Seconds of an optimizer step of four micro-batches on four ranks in two groups, where"
    " the first of 16 equal layers trains: bars measured, marks predicted from the rates that ranks"
    " measured, by communication alone; right: bytes that a rank keeps.",
    alt="Horizontal bars of seconds per step for 14 strategies, DDP and three settings of FSDP2:"
    " next to nothing where parameters stay whole, longest where they are gathered between groups;"
    " marks of the prediction beside them; right, bars of bytes held.",
)
