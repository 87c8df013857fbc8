"""Figure 5: valleys along six directions made of the weights, VGG16 with BN on CIFAR-10."""

from functools import partial

from harness.declare import at_most, ordering
from reproductions.asymvalley.models.controls import CALIBRATED, TRAINED
from reproductions.asymvalley.models.curves import asymmetries, sizes_of_shares
from reproductions.asymvalley.models.pairs import Pair
from reproductions.asymvalley.valleys.claims import direction_task, through

PAIR: Pair = "vgg16_cifar10"
TWIN: Pair = "vgg16nobn_cifar10"
POSITIVE_PARTS = partial(
    sizes_of_shares,
    of=through(PAIR, directions=("sgp", "sgp_centred")),
    beside=through(PAIR, directions=("sign", "sign")),
)
START = partial(asymmetries, of=through(TWIN, PAIR, directions=("theta_0",)))
NEARLY_SYMMETRIC = (
    "positive_parts_are_symmetric",
    CALIBRATED,
    at_most(POSITIVE_PARTS, 0.5, "share")
    .naming("sgp(theta_f)", "sgp(theta_f - mu)")
    .measuring("of the asymmetry along the signs of the weights, s = 1"),
    "The valley is at most half as asymmetric along the positive parts of the signs as along the"
    " signs.",
)
BY_BATCH_NORM = (
    "batch_norm_tilts_the_start",
    TRAINED,
    ordering(START, "error", strict=True).measuring("asymmetry with less that without, s = 1"),
    "Along the initial weights the valley is more asymmetric with batch normalization than"
    " without it.",
)

task = direction_task("fig05", PAIR, NEARLY_SYMMETRIC, twin=TWIN, beside_twin=(BY_BATCH_NORM,))
