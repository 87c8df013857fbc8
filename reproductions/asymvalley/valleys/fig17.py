"""Figure 17: valleys along six directions made of the weights, VGG11 without BN on CIFAR-100."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import (
    DIRECTION_ALT,
    DIRECTION_CAPTION,
    direction_claims,
)
from reproductions.asymvalley.valleys.experiment import special_directions

PAIR = "vgg11_cifar100"

task = Task(
    "asymvalley/fig17",
    reads=(special_directions,),
    table=table.directions(PAIR),
    claims=direction_claims("Figure 17", "VGG11 on CIFAR-100", pair=PAIR),
    figure=bind("figures:direction_panels", pair=PAIR),
    caption=DIRECTION_CAPTION.format(twin=""),
    alt=DIRECTION_ALT,
)
