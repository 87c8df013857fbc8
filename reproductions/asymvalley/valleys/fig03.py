"""Figure 3: valleys along seven common noises, VGG16 with BN on CIFAR-10."""

from functools import partial

from harness.declare import more_than
from reproductions.asymvalley.method.directions import NOISES, ZERO_SYMMETRIC
from reproductions.asymvalley.models.controls import CALIBRATED, TRAINED
from reproductions.asymvalley.models.curves import LEAN, mean_asymmetry
from reproductions.asymvalley.models.pairs import Pair
from reproductions.asymvalley.valleys.claims import (
    along,
    loss_is_asymmetric_too,
    noise_task,
    raw_noise_is_symmetric,
)

PAIR: Pair = "vgg16_cifar10"
RAW_ABOUT_ZERO = raw_noise_is_symmetric(
    CALIBRATED,
    "Raw noise that is symmetric about zero gives a nearly symmetric valley.",
    kinds=ZERO_SYMMETRIC,
    min_draws=3,
)
SHIFTED = NOISES[len(ZERO_SYMMETRIC) :]
"""Noise kinds 4 to 7, whose mean is positive."""
SHIFTED_LEANS = (
    "shifted_noise_leans_positive",
    TRAINED.asked_by_us(),
    more_than(
        partial(mean_asymmetry, of=along(SHIFTED, sign_consistent=False, s=0.2)), 0, "error"
    ).measuring(f"{LEAN}, four kinds, s = 0.2"),
    "Close to the minimum the valley along raw noise with a positive mean is flatter on the"
    " positive side, as the paper's explanation by BN weights implies.",
)

task = noise_task(
    "fig03",
    PAIR,
    RAW_ABOUT_ZERO,
    least=0.1,
    place=" and section 4.1",
    asked=(SHIFTED_LEANS, loss_is_asymmetric_too(PAIR)),
)
