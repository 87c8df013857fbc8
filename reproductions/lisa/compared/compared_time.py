"""Time of a step on SmolLM2 by phase, beside Figure 4."""

from harness.declare import CHECK, CPU, Task, ours
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
    claims=q.claims_on_a_step(exact=CHECK.at("smoke", "cpu"), warm=WARM, beside_lora=WARM),
    figure=".step_time.figures:time_panels",
    caption="Time of one training step by phase, as a share of full training's: medians of warm"
    " steps on one thread, methods in turn; LoRA of rank 18, as large a share of the width as the"
    " paper's 128, on all linear layers, embedding and head, as in the authors' script. Lines:"
    " standard error of the total over processes. Diamonds: counted matrix products. Dashed: the"
    " paper's early version, as read.",
    alt="Stacked horizontal bars of forward, backward and optimizer time for full training, LoRA"
    " with and without dropout and LISA, beside dashed outlines of the paper's bars.",
)  # fmt: skip
