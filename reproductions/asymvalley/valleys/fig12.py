"""Figure 12: valleys along seven common noises, ResNet20 on SVHN."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import NOISE_ALT, NOISE_CAPTION, noise_claims
from reproductions.asymvalley.valleys.experiment import common_noises

PAIR = "resnet20_svhn"

task = Task(
    "asymvalley/fig12",
    reads=(common_noises,),
    table=table.noises(PAIR),
    claims=noise_claims("Figure 12", "ResNet20 on SVHN", pair=PAIR, least=0.05, batch_norm=True),
    figure="figures:noise_panels",
    caption=NOISE_CAPTION,
    alt=NOISE_ALT,
)
