"""Figure 4: how long one training step takes under full training, LoRA and LISA."""

from __future__ import annotations

from harness.declare import CHECK, GPU_UP, Task, claims, equal, ours
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
        q.same_arithmetic_forward(CHECK),
        (
            "saved_arithmetic_as_computed",
            CHECK,
            equal(q.backward_error, 0, "operations").measuring("largest error"),
            "Going backward LISA saves the weight gradients of its frozen blocks, and no more.",
        ),
        q.step_takes_a_third(WARM),
        q.no_slower_than_lora(BESIDE_LORA),
    )
    + claims(
        "ours, beside Figure 4",
        q.forward_alike(WARM),
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
