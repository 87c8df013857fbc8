"""Figure 3: valleys along seven common noises, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, more_than
from reproductions.asymvalley.models.scopes import TRAINED
from reproductions.asymvalley.valleys import quantities as q
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import (
    LEAN,
    NOISE_ALT,
    NOISE_CAPTION,
    RAW_ABOUT_ZERO,
    loss_is_asymmetric_too,
    noise_claims,
)
from reproductions.asymvalley.valleys.experiment import common_noises

PAIR = "vgg16_cifar10"
SHIFTED_LEANS = (
    "shifted_noise_leans_positive",
    TRAINED,
    more_than(partial(q.shifted_asymmetry, s=0.2), 0, "error").measuring(
        f"{LEAN}, four kinds, s = 0.2"
    ),
    # The paper states no side: its explanation, by BN weights that are positive, implies one.
    "Close to the minimum the valley along raw noise with a positive mean is slightly asymmetric,"
    " flatter on the positive side.",
)

task = Task(
    "asymvalley/fig03",
    reads=(common_noises,),
    table=table.noises(PAIR),
    claims=noise_claims(
        "Figure 3 and section 4.1",
        "VGG16 on CIFAR-10",
        RAW_ABOUT_ZERO,
        SHIFTED_LEANS,
        pair=PAIR,
        least=0.1,
        batch_norm=True,
        ours=(loss_is_asymmetric_too("VGG16 on CIFAR-10"),),
    ),
    figure="figures:noise_panels",
    caption=NOISE_CAPTION,
    alt=NOISE_ALT,
)
