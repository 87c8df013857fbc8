"""Figure 16: valleys along six directions made of the weights, ResNet20 on SVHN."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import (
    DIRECTION_ALT,
    DIRECTION_CAPTION,
    direction_claims,
)
from reproductions.asymvalley.valleys.experiment import special_directions

PAIR = "resnet20_svhn"

task = Task(
    "asymvalley/fig16",
    reads=(special_directions,),
    table=table.directions(PAIR),
    claims=direction_claims("Figure 16", "ResNet20 on SVHN", pair=PAIR),
    figure=bind("figures:direction_panels", pair=PAIR),
    caption=DIRECTION_CAPTION.format(twin=""),
    alt=DIRECTION_ALT,
)
