"""Figure 13: valleys along seven common noises, VGG11 without BN on CIFAR-100."""

from reproductions.asymvalley.method.directions import NOISES
from reproductions.asymvalley.models.controls import TRAINED
from reproductions.asymvalley.models.pairs import Pair
from reproductions.asymvalley.valleys.claims import (
    loss_is_asymmetric_too,
    noise_task,
    raw_noise_is_symmetric,
)

PAIR: Pair = "vgg11_cifar100"
RAW_OF_ALL_KINDS = raw_noise_is_symmetric(
    TRAINED,
    "Without batch normalization raw noise of every kind gives a nearly symmetric valley.",
    kinds=NOISES,
    min_draws=5,
)

task = noise_task(
    "fig13",
    PAIR,
    RAW_OF_ALL_KINDS,
    least=0.05,
    asked=(loss_is_asymmetric_too(PAIR),),
)
