"""Figure 19: valleys along six directions made of the weights, ViT on Food-101."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import (
    DIRECTION_ALT,
    DIRECTION_CAPTION,
    direction_claims,
)
from reproductions.asymvalley.valleys.experiment import special_directions

PAIR = "vit_food101"

task = Task(
    "asymvalley/fig19",
    reads=(special_directions,),
    table=table.directions(PAIR),
    claims=direction_claims("Figure 19", "ViT on Food-101", pair=PAIR),
    figure=bind("figures:direction_panels", pair=PAIR),
    caption=DIRECTION_CAPTION.format(twin=""),
    alt=DIRECTION_ALT,
)
