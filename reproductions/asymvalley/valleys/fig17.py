"""Figure 17: valleys along six directions made of the weights, VGG11 without BN on CIFAR-100."""

from __future__ import annotations

from functools import partial

from harness.declare import PAPER, Task, at_most, bind
from reproductions.asymvalley.models.scopes import PAPER_ONLY, TRAINED
from reproductions.asymvalley.valleys import quantities as q
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import (
    DIRECTION_ALT,
    DIRECTION_CAPTION,
    direction_claims,
)
from reproductions.asymvalley.valleys.experiment import special_directions

PAIR = "vgg11_cifar100"
START_SYMMETRIC = (
    "theta_0_symmetric",
    TRAINED.at(*PAPER, elsewhere=f"{PAPER_ONLY}: short training keeps the signs of the start"),
    at_most(partial(q.direction_share, pair=PAIR, direction="theta_0"), 0.25, "share"),
    "Without batch normalization the valley along the initial weights is symmetric: at s = 1 its"
    " asymmetry is at most a quarter of that along the signs of the weights in size.",
)

task = Task(
    "asymvalley/fig17",
    reads=(special_directions,),
    table=table.directions(PAIR),
    claims=direction_claims("Figure 17", START_SYMMETRIC, pair=PAIR),
    figure=bind("figures:direction_panels", pair=PAIR),
    caption=DIRECTION_CAPTION.format(twin=""),
    alt=DIRECTION_ALT,
)
