"""Figure 15: valleys along seven common noises, ViT on Food-101."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import NOISE_ALT, NOISE_CAPTION, noise_claims
from reproductions.asymvalley.valleys.experiment import common_noises

PAIR = "vit_food101"

task = Task(
    "asymvalley/fig15",
    reads=(common_noises,),
    table=table.noises(PAIR),
    claims=noise_claims("Figure 15", "ViT on Food-101", pair=PAIR, least=0.0, batch_norm=False),
    figure="figures:noise_panels",
    caption=NOISE_CAPTION,
    alt=NOISE_ALT,
)
