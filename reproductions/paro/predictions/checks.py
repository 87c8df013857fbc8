"""Checks that several tables of predictions share."""

from __future__ import annotations

from functools import partial

from harness.declare import Criterion, Scope, at_least, more_than
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import SPLITS
from reproductions.paro.predictions.scopes import EXACT

Declared = tuple[str, Scope, Criterion, str]


def accumulation_checks(model: str) -> tuple[Declared, ...]:
    """Return how IIG stands to ZeRO-3 by micro-batches per step."""
    return (
        (
            "iig_gains_on_zero3",
            EXACT,
            at_least(partial(q.least_ratio_rise, one="IIG", over="GGG"), 1, "ratio"),
            "With more micro-batches per step IIG's lead over ZeRO-3 does not shrink (least"
            " factor).",
        ),
        (
            "larger_micro_batch_helps_zero3_more",
            EXACT,
            more_than(
                partial(q.helped_more, one="GGG", than="IIG", splits=SPLITS[model]), 1, "ratio"
            ),
            "At one batch per GPU a larger micro-batch, with fewer of them, speeds up ZeRO-3 more"
            " than IIG (least ratio of factors).",
        ),
    )
