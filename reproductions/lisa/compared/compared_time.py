"""Time of a step on SmolLM2 by phase, beside Figure 4."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, CPU, Task, claims, equal, ours, ratio
from reproductions.lisa.compared.experiment import timings
from reproductions.lisa.models.steps import timing as q
from reproductions.lisa.step_time.experiment import Timing

WARM = ours("DEV-19", profiles=CPU, elsewhere="a tiny model has other proportions").controlled(
    *q.STEADY
)
task = Task(
    "lisa/compared_time",
    own_kind="figure",
    reads=(timings,),
    table=q.times_of(Timing),
    claims=claims(
        "Figure 4 and section 4.1",
        (
            "same_arithmetic_forward",
            CHECK.at("smoke", "cpu"),
            equal(q.forward_difference, 0, "operations").measuring("difference"),
            "LISA's forward pass has the matrix products of full training's.",
        ),
        (
            "step_takes_a_third",
            WARM,
            q.lisa_at_most(0.35, q.FULL).measuring("LISA's time over full training's"),
            "A step of LISA takes about a third of the time of full training.",
        ),
        (
            "no_slower_than_lora",
            WARM,
            q.lisa_at_most(1.0, q.DROPPED, q.PLAIN)
            .naming("dropout 0.1", "no dropout")
            .measuring("LISA's time over LoRA's"),
            "A step of LISA takes no longer than a step of LoRA.",
        ),
    )
    + claims(
        "ours, beside Figure 4",
        (
            "forward_alike",
            WARM.asked_by_us(),
            ratio(partial(q.times, one=q.LISA, others=(q.FULL,), phase="forward"), 0.9, 1.1)
            .measuring("LISA's time over full training's"),
            "LISA's forward pass takes as long as full training's.",
        ),
    ),
    figure=".step_time.figures:time_panels",
    caption="Time of one training step by phase, as a share of full training's: medians of warm"
    " steps on one thread, methods in turn; LoRA of rank 128 on all linear layers, embedding and"
    " head, as in the authors' script. Lines: standard error of the total over seeds. Diamonds:"
    " counted matrix products. Dashed: the paper's early version, as read.",
    alt="Stacked horizontal bars of forward, backward and optimizer time for full training, LoRA"
    " with and without dropout and LISA, beside dashed outlines of the paper's bars.",
)  # fmt: skip
