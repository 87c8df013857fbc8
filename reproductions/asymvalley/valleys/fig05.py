"""Figure 5: valleys along six directions made of the weights, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, bind, ordering
from reproductions.asymvalley.models.scopes import TRAINED
from reproductions.asymvalley.valleys import quantities as q
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import (
    DIRECTION_ALT,
    DIRECTION_CAPTION,
    direction_claims,
    nearly_symmetric,
)
from reproductions.asymvalley.valleys.experiment import special_directions

PAIR = "vgg16_cifar10"
TWIN = "vgg16nobn_cifar10"
BY_BATCH_NORM = (
    "theta_0_by_batch_norm",
    TRAINED,
    ordering(
        partial(q.direction_of_pairs, pairs=(TWIN, PAIR), direction="theta_0"), "error", strict=True
    ),
    "The valley along the initial weights is more asymmetric around VGG16 with batch normalization"
    " on CIFAR-10, whose weights start at 1, than around the same VGG16 without batch"
    " normalization, as wide and on the same images, at s = 1.",
)

task = Task(
    "asymvalley/fig05",
    reads=(special_directions,),
    table=table.directions(PAIR, TWIN),
    claims=direction_claims("Figure 5", *nearly_symmetric(PAIR), BY_BATCH_NORM, pair=PAIR),
    figure=bind("figures:direction_panels", pair=PAIR, twin=TWIN),
    caption=DIRECTION_CAPTION.format(
        twin=" Dashed and dotted: the same net without batch normalization, at s = 1."
    ),
    alt=DIRECTION_ALT,
)
