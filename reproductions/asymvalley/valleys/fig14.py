"""Figure 14: valleys along seven common noises, AlexNet on Food-101."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import NOISE_ALT, NOISE_CAPTION, without_batch_norm
from reproductions.asymvalley.valleys.experiment import common_noises

PAIR = "alexnet_food101"

task = Task(
    "asymvalley/fig14",
    reads=(common_noises,),
    table=table.noises(PAIR),
    claims=without_batch_norm("Figure 14", least=0.05),
    figure="figures:noise_panels",
    caption=NOISE_CAPTION,
    alt=NOISE_ALT,
)
