"""Figure 4: how long one training step takes under full training, LoRA and LISA."""

from __future__ import annotations

from harness.declare import CHECK, GPU_UP, Task, equal, ours
from reproductions.lisa.models.steps import timing as q
from reproductions.lisa.step_time.experiment import Timing, timings

WARM = ours("DEV-04", elsewhere="so small a model has other proportions").controlled(*q.STEADY)
task = Task(
    "lisa/fig04",
    reads=(timings,),
    table=q.times_of(Timing),
    claims=q.claims_on_a_step(
        (
            "saved_arithmetic_as_computed",
            CHECK,
            equal(q.backward_error, 0, "operations").measuring("largest error"),
            "Going backward LISA saves the weight gradients of its frozen blocks, and no more.",
        ),
        exact=CHECK,
        warm=WARM,
        beside_lora=WARM.at(
            *GPU_UP, elsewhere="on a CPU the overhead of LoRA's many small products decides it"
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
