"""Figure 12: valleys along seven common noises, ResNet20 on SVHN."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import NOISE_ALT, NOISE_CAPTION, with_batch_norm
from reproductions.asymvalley.valleys.experiment import common_noises

PAIR = "resnet20_svhn"

task = Task(
    "asymvalley/fig12",
    reads=(common_noises,),
    table=table.noises(PAIR),
    claims=with_batch_norm("Figure 12", pair=PAIR, least=0.05),
    figure="figures:noise_panels",
    caption=NOISE_CAPTION,
    alt=NOISE_ALT,
)
