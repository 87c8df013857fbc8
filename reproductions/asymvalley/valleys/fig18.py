"""Figure 18: valleys along six directions made of the weights, AlexNet on Food-101."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import (
    DIRECTION_ALT,
    DIRECTION_CAPTION,
    direction_claims,
)
from reproductions.asymvalley.valleys.experiment import special_directions

PAIR = "alexnet_food101"

task = Task(
    "asymvalley/fig18",
    reads=(special_directions,),
    table=table.directions(PAIR),
    claims=direction_claims("Figure 18", "AlexNet on Food-101", pair=PAIR),
    figure=bind("figures:direction_panels", pair=PAIR),
    caption=DIRECTION_CAPTION.format(twin=""),
    alt=DIRECTION_ALT,
)
