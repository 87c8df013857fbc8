"""Figure 13: valleys along seven common noises, VGG11 without BN on CIFAR-100."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import (
    NOISE_ALT,
    NOISE_CAPTION,
    RAW_OF_ALL_KINDS,
    loss_is_asymmetric_too,
    noise_claims,
)
from reproductions.asymvalley.valleys.experiment import common_noises

PAIR = "vgg11_cifar100"

task = Task(
    "asymvalley/fig13",
    reads=(common_noises,),
    table=table.noises(PAIR),
    claims=noise_claims(
        "Figure 13",
        "VGG11 on CIFAR-100",
        RAW_OF_ALL_KINDS,
        pair=PAIR,
        least=0.05,
        batch_norm=False,
        ours=(loss_is_asymmetric_too("VGG11 on CIFAR-100"),),
    ),
    figure="figures:noise_panels",
    caption=NOISE_CAPTION,
    alt=NOISE_ALT,
)
