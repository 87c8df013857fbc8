"""Table 11 and Figure 3 on a testbed: every strategy where all parameters train."""

from functools import partial

from harness.declare import Task, at_least, claims
from reproductions.paro.measured_steps import quantities as q
from reproductions.paro.measured_steps.experiment import FSDP, steps
from reproductions.paro.measured_steps.table import gain_layout, step_layout, table_of

TITLE = "Optimizer steps, all parameters trained"
task = Task(
    "paro/measured_full",
    own_kind="ablation",
    reads=(steps,),
    table=table_of("full"),
    layout=(
        step_layout("full", "rail", TITLE),
        step_layout("full", "shared", TITLE),
        gain_layout("LLaMA-7B IIG", "LLaMA-65B IIG", "LLaMA-7B NII", stages=(3, 2)),
    ),
    claims=claims(
        "section 4.3",
        (
            "iig_faster_than_zero3",
            q.MEASURED,
            q.faster(("IIG", "GGG")),
            "IIG trains faster than ZeRO-3.",
        ),
        (
            "nii_faster_than_zero2",
            q.MEASURED,
            q.faster(("NII", "NGG")),
            "NII trains faster than ZeRO-2.",
        ),
    )
    + q.of_strategies(
        "Figure 3",
        (
            "zero3_no_slower_than_fsdp2",
            q.MEASURED.asked_by_us(),
            at_least(
                partial(q.speed_ratios, pairs=(("GGG", FSDP),), at=(q.RAIL,)), 1, "times the speed"
            ),
            "The ZeRO-3 that strategies are compared with is no slower than PyTorch's FSDP2.",
        ),
        (
            "iig_faster_when_shared",
            q.WHEN_SHARED,
            q.faster(("IIG", "GGG"), where=q.SHARED),
            "IIG trains faster than ZeRO-3 where a group shares one link.",
        ),
        (
            "follows_guideline_when_shared",
            q.WHEN_SHARED,
            q.follows_guideline(q.SHARED),
            "The guideline ranks the 14 strategies by speed where a group shares one link.",
        ),
        beside="section 4.3",
    ),
    figure="figures:step_panels",
    caption="Left: seconds per optimizer step, measured (bars) and predicted by communication alone"
    " from the rates that the ranks measured (marks). Right: bytes that a rank keeps. PyTorch's own"
    " stand beside the strategy that each is or comes nearest to.",
    alt="Horizontal bars of seconds per step for 14 strategies, DDP and three settings of FSDP2:"
    " short where nothing is gathered between groups in each micro-batch, longest for ZeRO-3 and"
    " FSDP2; marks of the prediction near their ends; beside them bars of bytes held, longest for"
    " NNN and shortest for ZeRO-3.",
)
