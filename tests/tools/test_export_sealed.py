"""The export: how a claim stood to its first seals, and that the committed files are read whole."""

from __future__ import annotations

from typing import Any

import pytest

from harness.provenance.before import load_before
from harness.registry import load_registry
from harness.store.trial import grid_of
from tests.checkout import ROOT
from tools.export_sealed import COMMIT, differences, first_of, grouped, seal_state

RENEWED = {
    "supar/fig01": 3, "supar/fig05": 6, "supar/fig06": 10, "supar/fig08": 8, "supar/tab01": 7,
    "asymvalley/fig03": 1, "asymvalley/fig12": 1, "asymvalley/fig13": 1, "asymvalley/fig14": 1,
    "asymvalley/fig15": 1,
}  # fmt: skip
"""Rows whose seals were renewed when their results were known, as a referee counted them."""
PAPERS = ("supar", "asymvalley", "lisa")


@pytest.mark.parametrize(
    ("seals", "state"),
    [
        ([("a", "a"), ("a", "a")], "sealed"),
        ([("a", "a"), ("a", "b")], "renewed"),
        ([("a", "b"), (None, "b")], "late"),
    ],
)
def test_state_follows_from_first_and_last_seals(seals: list[Any], state: str) -> None:
    assert seal_state(seals) == state


def record(started_at: str, seals: str, **params: int) -> dict[str, Any]:
    return {
        "params": params, "seals": {"c": seals}, "provenance": {"started_at": started_at},
    }  # fmt: skip


def test_trial_is_known_again_with_further_parameters() -> None:
    now = record("2", "new", x=1, steps=3)
    before = record("1", "old", x=1)
    known = {("x",): {(1,): before}, ("steps", "x"): {(3, 1): now}}
    assert first_of(now, known) == {"c": "old"}
    assert first_of(record("2", "new", x=2, steps=3), {("steps", "x"): {(3, 2): now}}) == {
        "c": "new"
    }


def test_equal_seals_are_told_once() -> None:
    assert grouped({"k1": {"c": 1}, "k2": {"c": 2}, "k3": {"c": 1}}) == [
        {"seals": {"c": 1}, "keys": ["k1", "k3"]},
        {"seals": {"c": 2}, "keys": ["k2"]},
    ]


def test_rounding_is_no_difference_and_everything_else_is() -> None:
    old = {"a": [1.0, {"b": "x"}], "n": None}
    assert differences(old, {"a": [1.0 + 1e-15, {"b": "x"}], "n": None}, "p") == []
    assert differences(old, {"a": [1.0, {"b": "y"}]}, "p") == ["p a[1] b: committed 'x', now 'y'"]
    assert len(differences(old, {"a": [1.0], "n": 1}, "p")) == 2


def test_export_holds_what_was_renewed() -> None:
    found: dict[str, int] = {}
    for paper in PAPERS:
        before = load_before(ROOT, paper)
        assert before is not None and before.commit == COMMIT
        for name, task in before.tasks.items():
            count = sum(entry.seal == "renewed" for entry in task.claims.values())
            found |= {name: count} if count else {}
    assert found == RENEWED
    assert sum(found.values()) == 39


def test_every_trial_of_the_export_is_still_declared() -> None:
    library = load_registry()
    count = 0
    for paper in PAPERS:
        before = load_before(ROOT, paper)
        assert before is not None
        for name, entry in before.experiments.items():
            declared = [trial.key for trial in grid_of(library.experiments[name], "cpu")]
            assert declared == entry.keys, name
            count += sum(len(group.keys) for group in entry.first_seals)
    assert count == 3257
