"""Hostile numbers on the command line: one sentence that says what would do, at once."""

from __future__ import annotations

import time

import pytest

from harness.errors import UsageError
from harness.store.trial import MAX_TRIALS, grid_of
from tests.harness.conftest import Cli
from tests.harness.inline_lab import SQUARES, tree
from tests.harness.toy_paper import ToyPaper


@pytest.mark.parametrize("verb", ["plan", "run"])
@pytest.mark.parametrize(
    "words",
    [
        ("--seeds", "100000000"),
        ("--set", "seeds=3000000"),
        ("--set", "seeds=" + "9" * 4000),
        ("--seeds", str(MAX_TRIALS // 4 + 1)),
    ],
)
def test_more_seeds_than_can_be_planned_are_refused_at_once(
    toy: ToyPaper, cli: Cli, verb: str, words: tuple[str, ...]
) -> None:
    before, start = tree(toy.root), time.process_time()
    done = cli(verb, "toylab/tab01", *words)
    assert time.process_time() - start < 2.0
    assert done.code == 2 and tree(toy.root) == before
    (sentence,) = done.err.strip().splitlines()
    assert sentence.startswith("repro: toylab/squares at smoke: ")
    assert f"more than {MAX_TRIALS} trials" in sentence and "fewer seeds" in sentence
    assert len(sentence) < 200


def test_as_many_trials_as_can_be_planned_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.store.trial.MAX_TRIALS", 9)
    assert len(grid_of(SQUARES, "cpu", {"seeds": 3})) == 9
    with pytest.raises(UsageError, match="more than 9 trials"):
        grid_of(SQUARES, "cpu", {"seeds": 4})
    # Points that an override makes equal count once.
    assert len(grid_of(SQUARES, "cpu", {"seeds": 4, "x": 1})) == 4
