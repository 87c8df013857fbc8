"""The positive control of claims on ratings."""

from __future__ import annotations

from functools import partial

from harness.declare import more_than
from reproductions.lisa.models.claims import JUDGED
from reproductions.lisa.models.scored import VANILLA
from reproductions.lisa.mt_bench import quantities as q

RATED = JUDGED.controlled(
    "the judge rates full training's answers above the untuned model's",
    more_than(partial(q.steps, methods=(VANILLA, "full")), 0, "points"),
)
"""Where fine-tuning is seen in the ratings at all."""
