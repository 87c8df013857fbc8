"""Trials of online adaptation: what they start from, and what they say of both models."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from harness.declare import Experiment, Params
from reproductions.fg2u.adaptation import trial
from reproductions.fg2u.adaptation.experiment import (
    Weighing,
    base_of,
    bases,
    first,
    first_phase,
    second_phase,
)
from reproductions.fg2u.adaptation.trial import base_rows, weighing_rows
from tests.reproductions.fg2u.trials import BareContext


class Kept(BareContext):
    """A context that keeps artifacts in memory, for all trials of a test."""

    def __init__(self, store: dict[Any, Any], experiment: Experiment, params: Params) -> None:
        super().__init__()
        self._store, self._own = store, store.setdefault((experiment.id, params), {})

    def save(self, name: str, tensors: dict[str, Any]) -> None:
        self._own[name] = {key: value.clone() for key, value in tensors.items()}

    def upstream(self, experiment: Experiment, point: Params) -> Any:
        return SimpleNamespace(load=lambda name: self._store[experiment.id, point][name])


@pytest.fixture(autouse=True)
def few_step_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers choose among two."""
    monkeypatch.setattr(trial, "STREAM_LRS", trial.STREAM_LRS[-2:])


@pytest.fixture(scope="module")
def store() -> dict[Any, Any]:
    kept: dict[Any, Any] = {}
    for model in ("small", "large"):
        point = base_of(FIRST, model)  # type: ignore[arg-type]
        rows = base_rows(point, Kept(kept, bases, point))
        assert [row["part"] for row in rows] == ["known", "test"]
    return kept


FIRST = first_phase("streamingqa", "tiny", seed=0)


def rows_of(store: dict[Any, Any], params: Weighing) -> list[dict[str, Any]]:
    rows = weighing_rows(params, Kept(store, first, params))
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


def test_a_second_phase_starts_from_what_the_first_gave(store: dict[Any, Any]) -> None:
    equal, learned = (rows_of(store, FIRST)[at : at + 2] for at in (0, 2))
    assert {row["weighing"] for row in equal} == {"equal"}
    assert {row["value_auc"] for row in equal} == {0.5}
    assert [row["eval_model"] for row in learned] == ["small", "large"]
    still = second_phase("streamingqa", "tiny", "rgu", "small", 6, seed=0, lr=1e-12)
    same = ("f1", "qa_loss_after", "value_auc", "stream_lr")
    for before, after in zip(learned, rows_of(store, still), strict=True):
        assert {name: after[name] for name in same} == pytest.approx(
            {name: before[name] for name in same}, rel=1e-4
        )
    moved = rows_of(store, replace(still, lr=0.5))
    assert moved[0]["qa_loss_after"] != pytest.approx(learned[0]["qa_loss_after"], rel=1e-4)


def test_the_larger_base_is_unrolled_where_it_is_asked_for(store: dict[Any, Any]) -> None:
    if (first.id, FIRST) not in store:
        rows_of(store, FIRST)
    small, large = (
        rows_of(store, second_phase("streamingqa", "tiny", "fg2u", base, 3, seed=0))[0]  # type: ignore[arg-type]
        for base in ("small", "large")
    )
    assert small["outer_loss"] != large["outer_loss"]
    assert None not in (small["peak_bytes"], large["peak_bytes"])
