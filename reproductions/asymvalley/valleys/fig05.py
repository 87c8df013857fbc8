"""Figure 5: valleys along six directions made of the weights, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_most, bind, ordering
from reproductions.asymvalley.models.scopes import CALIBRATED, TRAINED
from reproductions.asymvalley.valleys import quantities as q
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import (
    DIRECTION_ALT,
    DIRECTION_CAPTION,
    direction_claims,
)
from reproductions.asymvalley.valleys.experiment import special_directions

PAIR = "vgg16_cifar10"
TWIN = "vgg16nobn_cifar10"
PARTS = ("sgp", "sgp_centred")
START = partial(q.direction_of_pairs, pairs=(TWIN, PAIR), direction="theta_0")
NEARLY_SYMMETRIC = (
    "positive_parts_are_symmetric",
    CALIBRATED,
    at_most(partial(q.direction_shares, pair=PAIR, directions=PARTS), 0.5, "share")
    .naming("sgp(theta_f)", "sgp(theta_f - mu)")
    .measuring("of the asymmetry along the signs of the weights, s = 1"),
    "The valley is nearly symmetric along the positive parts of the signs.",
)
BY_BATCH_NORM = (
    "batch_norm_tilts_the_start",
    TRAINED,
    ordering(START, "error", strict=True).measuring("asymmetry with less that without, s = 1"),
    "Along the initial weights the valley is more asymmetric with batch normalization than"
    " without it.",
)

task = Task(
    "asymvalley/fig05",
    reads=(special_directions,),
    table=table.directions(PAIR, TWIN),
    claims=direction_claims(
        "Figure 5", "VGG16 on CIFAR-10", NEARLY_SYMMETRIC, BY_BATCH_NORM, pair=PAIR
    ),
    figure=bind("figures:direction_panels", pair=PAIR, twin=TWIN),
    caption=DIRECTION_CAPTION.format(
        twin=" Dashed and dotted: the same net without batch normalization, at s = 1."
    ),
    alt=DIRECTION_ALT,
)
