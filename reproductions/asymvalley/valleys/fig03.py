"""Figure 3: valleys along seven common noises, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, more_than
from reproductions.asymvalley.models.scopes import TRAINED
from reproductions.asymvalley.valleys import quantities as q
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import NOISE_ALT, NOISE_CAPTION, with_batch_norm
from reproductions.asymvalley.valleys.experiment import common_noises

PAIR = "vgg16_cifar10"
LEANS_POSITIVE = (
    "raw_shifted_positive",
    TRAINED,
    more_than(partial(q.shifted_asymmetry, s=0.2), 0, "error").measuring(
        "mean error of the negative side less that of the positive side"
    ),
    "At s = 0.2 raw noise of the four kinds with a positive mean is asymmetric on average, the"
    " positive side being the lower one. The paper states no side; its explanation, by weights of"
    " batch normalization that are positive, implies this one.",
)

task = Task(
    "asymvalley/fig03",
    reads=(common_noises,),
    table=table.noises(PAIR),
    claims=with_batch_norm("Figure 3 and section 4.1", LEANS_POSITIVE, pair=PAIR, least=0.1),
    figure="figures:noise_panels",
    caption=NOISE_CAPTION,
    alt=NOISE_ALT,
)
