"""Checks that several tables of predictions share."""

from __future__ import annotations

from functools import partial

from harness.declare import Criterion, Scope, at_least, equal, more_than
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import SPLITS
from reproductions.paro.predictions.scopes import EXACT

Declared = tuple[str, Scope, Criterion, str]


def memory_checks(*, said: str = "") -> tuple[Declared, ...]:
    """Return the orders in memory; said: what the text adds to the last of them."""
    return (
        (
            "memory_orders",
            EXACT,
            more_than(q.least_memory_step, 0, "bytes"),
            "In memory NGG < NIG < NNG, GGG < IIG < NNG and IIG < NGG (least step, all settings).",
        ),
        (
            "iig_ties_iii",
            EXACT,
            equal(
                partial(q.largest_tie_error, one="IIG", other="III"), 0, "relative difference",
                tolerance=1e-9,
            ),
            "IIG and III send the same: t_comm is equal to 1e-9 in every setting.",
        ),
        (
            "iig_holds_less_than_iii",
            EXACT,
            more_than(partial(q.memory_saved, one="IIG", over="III"), 0, "bytes"),
            f"IIG holds less than III in every setting{said}.",
        ),
    )  # fmt: skip


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
