"""Table 11 and Figure 3 on a testbed: every strategy where all parameters train."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, claims, more_than
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
        faster("iig_over_zero3", "IIG", "GGG", "ZeRO-3", "of LLaMA-7B by 128 %, of 65B by 86 %"),
        faster("nii_over_zero2", "NII", "NGG", "ZeRO-2", "of LLaMA-7B by 67 %"),
    )
    + claims(
        "abstract, section 4.3 and Figure 3",
        follows_guideline("follows_guideline", q.RAIL, "a link between groups for each rank"),
    )
    + claims(
        "ours, beside section 4.3",
        (
            "faster_with_a_shared_link",
            MEASURED.asked_by_us(),
            more_than(
                partial(q.speed_ratio, one="IIG", over="GGG", where=q.SHARED), 1, "times the speed"
            ),
            "IIG is faster than ZeRO-3 where the ranks of a group share one link.",
        ),
        (
            "follows_guideline_shared",
            follows_guideline("", q.SHARED, "")[1].asked_by_us(),
            follows_guideline("", q.SHARED, "")[2],
            follows_guideline("", q.SHARED, "one link that the ranks of a group share")[3],
        ),
    )
    + claims("section 2.1 and appendix A.3, formulas 1 and 2", *COUNTS)
    + claims("ours, beside those formulas", *INTERFACES),
    figure="figures:step_panels",
    caption="Seconds of an optimizer step of four micro-batches on four ranks in two groups: bars"
    " measured, marks predicted from the rates that ranks measured, by communication alone with one"
    " ring for collectives of all ranks; right: bytes that a rank keeps. Links of 200 Mbit/s"
    " between groups and 5 Gbit/s within, a model of 2.4 million float32 parameters. DDP and FSDP2"
    " stand beside what they are or come nearest to.",
    alt="Horizontal bars of seconds per step for 14 strategies, DDP and three settings of FSDP2:"
    " short where nothing is gathered between groups in each micro-batch, longest for ZeRO-3 and"
    " FSDP2; marks of the prediction near their ends; beside them bars of bytes held, longest for"
    " NNN and shortest for ZeRO-3.",
)
