"""Rates that are trained as one stack have the rows of nets that are trained by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.declare.experiment import Outcome, Status
from reproductions.supar.models.gpt_trial import train_rates
from reproductions.supar.models.points import RatePoint
from reproductions.supar.sweeps.experiment import lr_sweep
from tests.golden_trials import in_double
from tests.reproductions.supar import small

TINY = {
    "width": 32, "base_width": 16, "num_layers": 1, "head_size": 16, "context": 16, "batch_size": 4,
}  # fmt: skip
WILD = 1020.0
"""log2 of a rate at which the second loss of any net is not finite."""


def swept(*log2_rates: float, **changes: Any) -> list[RatePoint]:
    point = next(p for p in small.points(lr_sweep) if p.scheme == "supar" and p.density < 1.0)
    of = {**TINY, "steps": 30, "warmup_steps": 3, **changes}
    return [replace(point, log2_lr=log2_lr, **of) for log2_lr in log2_rates]


def together(points: Sequence[RatePoint]) -> list[Outcome]:
    with in_double():
        return train_rates(points, [small.Context(lr_sweep, point) for point in points])


def alone(points: Sequence[RatePoint]) -> list[Outcome]:
    with in_double():
        return [small.run(lr_sweep, point) for point in points]


# In float64, where rounding is all that may differ; a norm that clips, and one that does not.
@pytest.mark.parametrize("changes", [{"clip_norm": 0.5}, {"clip_norm": 0.0, "micro_batches": 2}])
def test_each_rate_of_a_stack_has_the_row_of_its_own_trial(changes: dict[str, Any]) -> None:
    """One that diverges ends where it would alone, and is nothing to the others."""
    points = swept(-8.0, WILD, -4.0, **changes)
    found, wanted = together(points), alone(points)
    assert [each.status for each in found] == [Status.DONE, Status.DIVERGED, Status.DONE]
    for ours, theirs in zip(found, wanted, strict=True):
        assert (ours.status, ours.note) == (theirs.status, theirs.note)
        for name, value in theirs.rows[0].items():
            close = value if value is None else pytest.approx(value, rel=1e-9)
            assert ours.rows[0][name] == close, name
    assert found[0].rows[0]["train_loss"] != found[2].rows[0]["train_loss"]
    clips = bool(changes["clip_norm"])
    assert bool(found[0].rows[0]["clip_rate"]) == clips
    # Its first step alone has a gradient, and alone it would end at the look after the 26th.
    assert found[1].rows[0]["clip_rate"] == clips / 26


def test_a_stack_of_rates_that_all_diverge_ends_early() -> None:
    points = swept(WILD, WILD + 1.0)
    assert [each.status for each in together(points)] == [Status.DIVERGED] * 2
