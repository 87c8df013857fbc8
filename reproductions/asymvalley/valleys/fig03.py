"""Figure 3: valleys along seven common noises, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, ordering
from reproductions.asymvalley.models.scopes import TRAINED
from reproductions.asymvalley.valleys import quantities as q
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import NOISE_ALT, NOISE_CAPTION, with_batch_norm
from reproductions.asymvalley.valleys.experiment import common_noises

PAIR = "vgg16_cifar10"
SLIGHTLY_ASYMMETRIC = (
    "raw_shifted_slight",
    TRAINED,
    ordering(partial(q.raw_sizes, s=0.2), "error", strict=True),
    "At s = 0.2 raw noise of the four kinds with a positive mean is asymmetric: its asymmetry is"
    " larger in size, on average, than that of the three kinds symmetric about zero. Neither its"
    " direction nor that it is slight, as the paper has it, is claimed.",
)

task = Task(
    "asymvalley/fig03",
    reads=(common_noises,),
    table=table.noises(PAIR),
    claims=with_batch_norm("Figure 3 and section 4.1", SLIGHTLY_ASYMMETRIC, pair=PAIR, least=0.1),
    figure="figures:noise_panels",
    caption=NOISE_CAPTION,
    alt=NOISE_ALT,
)
