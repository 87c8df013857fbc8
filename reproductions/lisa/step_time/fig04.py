"""Figure 4: how long one training step takes under full training, LoRA and LISA."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, GPU_UP, Task, claims, equal, ours, ratio
from reproductions.lisa.models.steps import timing as q
from reproductions.lisa.step_time.experiment import Timing, timings

WARM = ours("DEV-04", elsewhere="so small a model has other proportions").controlled(*q.STEADY)
BESIDE_LORA = WARM.at(
    *GPU_UP, elsewhere="on a CPU the overhead of LoRA's many small products decides it"
)
task = Task(
    "lisa/fig04",
    reads=(timings,),
    table=q.times_of(Timing),
    claims=claims(
        "Figure 4 and section 4.1",
        (
            "same_arithmetic_forward",
            CHECK,
            equal(q.forward_difference, 0, "operations").measuring("difference"),
            "LISA's forward pass has the matrix products of full training's.",
        ),
        (
            "saved_arithmetic_as_computed",
            CHECK,
            equal(q.backward_error, 0, "operations").measuring("largest error"),
            "Going backward LISA saves the weight gradients of its frozen blocks, and no more.",
        ),
        (
            "step_takes_a_third",
            WARM,
            q.lisa_at_most(0.35, q.FULL).measuring("LISA's time over full training's"),
            "A step of LISA takes about a third of the time of full training.",
        ),
        (
            "no_slower_than_lora",
            BESIDE_LORA,
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
    figure="figures:time_panels",
    caption="Time of one training step by phase, as a share of full training's. Left: medians of"
    " warm steps, methods in turn; right: the first step of a fresh process, by the host's clock."
    " Lines: standard error of the total over seeds. Diamonds: counted matrix products. Dashed: the"
    " paper's early version, forward and then backward with the optimizer, as read.",
    alt="Stacked horizontal bars of forward, backward and optimizer time for full training, LoRA"
    " with and without dropout and LISA, warm and cold, beside dashed outlines of the paper's"
    " shorter bars for LoRA and LISA.",
)  # fmt: skip
