"""What the claims on SmolLM2 measure. Losses are in nats per answer token.

Quantities take the table of one seed, unless they say "whole table".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from harness.declare import CPU, Frame, InvalidQuantity, at_least, ours, pick
from reproductions.lisa.compared.experiment import BENCHMARKS


def loss(table: Frame, method: str, value: str = "loss") -> float:
    """Return a method's loss; infinite where it diverged."""
    found = pick(table, method=method)[value].astype(float).iloc[0]
    return math.inf if math.isnan(found) else float(found)


def difference(table: Frame, *, one: str, other: str, value: str = "loss") -> float:
    """Return a loss of one method minus that of another."""
    return loss(table, one, value) - loss(table, other, value)


def fall(table: Frame, *, method: str) -> float:
    """Return by how much fine-tuning by a method lowers the held-out loss."""
    return difference(table, one="untuned", other=method)


def share_without_blocks(table: Frame) -> float:
    """Return what share of LISA's fall in loss embeddings and head reach alone.

    Raises InvalidQuantity where LISA lowers no loss.
    """
    whole = fall(table, method="lisa")
    if whole <= 0.0:
        raise InvalidQuantity("LISA does not lower the loss, so there is no share of it")
    return fall(table, method="no_blocks") / whole


def leads(table: Frame, *, one: str, other: str, benchmarks: Sequence[str]) -> list[float]:
    """Return one method's accuracy minus another's, per benchmark."""
    return [_accuracy(table, one, name) - _accuracy(table, other, name) for name in benchmarks]


def kept(table: Frame, *, methods: Sequence[str], benchmarks: Sequence[str]) -> list[float]:
    """Return each method's accuracy minus the untuned model's, per benchmark."""
    return [
        lead
        for method in methods
        for lead in leads(table, one=method, other="untuned", benchmarks=benchmarks)
    ]


def above_guessing(table: Frame, *, benchmarks: Sequence[str]) -> list[float]:
    """Return the untuned model's accuracy minus that of guessing, per benchmark."""
    rows = [pick(table, method="untuned", benchmark=name) for name in benchmarks]
    return [float((one["accuracy"] - one["random_accuracy"]).iloc[0]) for one in rows]


def _accuracy(table: Frame, method: str, benchmark: str) -> float:
    return float(pick(table, method=method, benchmark=benchmark)["accuracy"].iloc[0])


def static_over(table: Frame, *, one: str, others: Sequence[str]) -> list[float]:
    """Return computed weights, gradients and moments of others over one's; whole table."""
    static = pick(table, how="arithmetic").set_index("method")["static_closed_form_bytes"]
    return [float(static[other] / static[one]) for other in others]


LEAST_FALL = 0.2
"""Nats by which full training must lower the held-out loss."""
LEAST_ABOVE = 0.05
"""By how much the untuned model must be above guessing."""
SPREAD = "Dots: runs, one per seed; lines: their mean."
HERE = ours("DEV-19", profiles=CPU, elsewhere="smoke has a tiny model, and the paper's are larger")
TRAINED = HERE.controlled(
    f"full training lowers the held-out loss by {LEAST_FALL:g} nats",
    at_least(partial(fall, method="full"), LEAST_FALL, "nats"),
)
"""Of losses after fine-tuning."""
ABLE = HERE.controlled(
    f"the untuned model is {100 * LEAST_ABOVE:g} points above guessing",
    at_least(partial(above_guessing, benchmarks=tuple(BENCHMARKS)), LEAST_ABOVE, "accuracy").naming(
        *BENCHMARKS
    ),
)
"""Of accuracies."""
