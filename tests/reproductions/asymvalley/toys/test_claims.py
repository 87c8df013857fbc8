"""Every claim on scalings and toys, on tables where it holds, fails, and has too few seeds."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor

from harness.data import load as datasets
from harness.data.codec import Content
from harness.declare.claims import Claim
from harness.declare.experiment import RawParams
from harness.declare.statistics import MissingRows
from harness.declare.task import Task
from harness.declare.verdict import Verdict, Word
from harness.store.seeds import derive_seed
from harness.store.table_csv import build_table
from reproductions.asymvalley.method.directions import NOISES
from reproductions.asymvalley.toys import (
    fig02,
    fig10,
    fig27,
    fig29,
    relu_unit,
    softmax,
    trial,
)
from reproductions.asymvalley.toys.quantities import (
    bracket_violation,
    smallest_active_gains,
)
from reproductions.asymvalley.toys.softmax import Metrics
from tests.verdicts import bad, controlled, good

FIG02, FIG10, FIG27, FIG29 = fig02.task, fig10.task, fig27.task, fig29.task
SIZES = (-1.0, -0.5, 0.0, 0.5, 1.0)


def scalings(holds: bool) -> pd.DataFrame:
    """Return noises that norm scaling keeps and filter-NS turns, or the other way round."""
    rows = []
    for noise, seed in itertools.product(NOISES, range(3)):
        wobble = 0.001 * seed
        turned = {"one_minus_cosine": 0.1 + wobble, "norm_ratio": 0.9}
        kept = {"one_minus_cosine": 1e-13, "norm_ratio": 1.0 + 1e-7}
        # One kind that fails must be enough.
        for norm, found in (("raw", kept), ("filter_ns", turned), ("ns", kept)):
            if not holds and noise == "ones" and norm != "raw":
                found = turned if norm == "ns" else kept
            rule = "abs" if norm == "filter_ns" else ""
            place = {"noise": noise, "seed": seed, "norm": norm, "one_dim_rule": rule}
            rows.append(place | found)
    return pd.DataFrame(rows)


def patterns(holds: bool) -> pd.DataFrame:
    """Return class weights that are kept on the positive side, or one class on the other."""
    rows = []
    for digit, step in itertools.product(range(10), range(-4, 5)):
        x = step / 4
        gain = x if holds or digit != 3 else -20.0 * x
        cosine = 1.0 - 0.1 * x * x + 0.001 * gain
        rows.append(
            {
                "part": "step",
                "digit": digit,
                "x": x,
                "cosine": cosine,
                "expected_cosine": cosine if holds else 1.01 * cosine,
                "margin": 5.0 + gain,
            }
        )
    return pd.DataFrame(rows)


def units(holds: bool) -> pd.DataFrame:
    """Return units that follow the noise, or go against it."""
    rows = []
    for seed, size in itertools.product(range(5), SIZES):
        mean = 10.0 + 0.1 * seed + (10.0 + 0.2 * seed) * size * (1.0 if holds else -1.0)
        summary = {
            "seed": seed,
            "part": "summary",
            "lambda": size,
            "x": 0.0,
            "mean": mean,
            "expected_mean": 10.0 + 0.1 * seed + (10.0 + 0.2 * seed) * size,
            "standard_error": 0.1,
            # It falls slightly beyond zero, as it really does.
            "active": 0.8 + 0.001 * seed + (0.1 * min(size, 0.0) - 0.01 * max(size, 0.0)),
        }
        if not holds:
            summary["active"] = 0.8 + 0.001 * seed - 0.1 * size
        rows.append(summary)
    return pd.DataFrame(rows)


def lines(holds: bool) -> pd.DataFrame:
    """Return losses that are lower on the positive side, by the slopes of the loss; or neither."""
    rows = []
    for seed, consistent, size in itertools.product(range(5), (False, True), SIZES):
        lean = (0.5 if holds else -0.5) if consistent else 0.2 * (-1.0) ** seed
        # ce = size^2 - lean * size is convex; its slope is 2 size - lean.
        value = 2.0 + size * size - lean * size
        row = dict.fromkeys(fig29.NAMES, value) | {
            "seed": seed,
            "sign_consistent": consistent,
            "lambda": size,
            "first_order_eps": (2.0 * size - lean) * (1.0 if holds else 3.0),
        }
        rows.append(row)
    return pd.DataFrame(rows)


TABLES: dict[str, tuple[Task, Callable[[bool], pd.DataFrame]]] = {
    "fig02": (FIG02, scalings),
    "fig10": (FIG10, patterns),
    "fig27": (FIG27, units),
    "fig29": (FIG29, lines),
}
EVERY_CLAIM = [
    pytest.param(word, claim, id=f"{word}:{claim.id}")
    for word, (task, _) in TABLES.items()
    for claim in task.claims
]


def decide(task: Task, claim: Claim, table: pd.DataFrame) -> Verdict:
    table = table.reindex(columns=task.table.names)
    return controlled(claim, table, seed=task.table.seed, profile="cpu")


def named(task: Task, claim: str) -> Claim:
    return next(each for each in task.claims if each.id == claim)


@pytest.mark.parametrize(("word", "claim"), EVERY_CLAIM)
def test_claim_holds_on_a_table_made_to_hold(word: str, claim: Claim) -> None:
    task, table = TABLES[word]
    verdict = decide(task, claim, table(True))
    assert (verdict.word, verdict.reason) == (good(claim), "")


@pytest.mark.parametrize(("word", "claim"), EVERY_CLAIM)
def test_claim_fails_on_a_table_made_to_fail(word: str, claim: Claim) -> None:
    task, table = TABLES[word]
    verdict = decide(task, claim, table(False))
    assert (verdict.word, verdict.reason) == (bad(claim), "")


@pytest.mark.parametrize(("word", "claim"), EVERY_CLAIM)
def test_two_seeds_decide_nothing_unless_it_is_an_identity(word: str, claim: Claim) -> None:
    task, table = TABLES[word]
    few = table(True)
    few = few[few["seed"] < 2] if "seed" in few else few
    expected = good(claim) if claim.scope.deterministic else Word.UNDECIDED
    assert decide(task, claim, few).word is expected


@pytest.mark.parametrize(("word", "claim"), EVERY_CLAIM)
def test_claim_is_graded_for_its_profiles(word: str, claim: Claim) -> None:
    assert ("smoke" in claim.scope.profiles) == (claim.scope.grade == "exact")
    assert claim.scope.elsewhere
    if claim.scope.grade == "empirical":
        assert claim.scope.deviation == "DEV-08"


def test_draws_of_unlike_order_leave_the_sign_row_undecided() -> None:
    table = lines(True)
    flipped = (table["seed"] < 2) & table["sign_consistent"]
    table.loc[flipped, "ce"] = 2.0 + table.loc[flipped, "lambda"]
    assert (
        decide(FIG29, named(FIG29, "positive_side_has_lower_metrics"), table).word is Word.UNDECIDED
    )


def test_missing_rows_are_not_a_verdict() -> None:
    none = scalings(True).query("norm != 'ns'")
    assert decide(FIG02, named(FIG02, "ns_length"), none).word is Word.UNTESTED
    with pytest.raises(MissingRows, match=r"not all of the sizes \[-0\.5, 0\.5\]"):
        smallest_active_gains(units(True).query("`lambda` != 0.5"), sizes=(0.5,))


def test_bracket_is_violated_by_as_much_as_the_loss_leaves_it() -> None:
    table = lines(True)
    table.loc[(table["seed"] == 1) & (table["lambda"] == 1.0), "ce"] += 5.0
    # From 0.5 to 1 a quadratic loss rises by 0.25 less than its bound, here by 5 too much.
    assert bracket_violation(table) == pytest.approx(4.75)


# --- the experiments themselves, as they are and with a broken method ---


class Context:
    """What a run is handed: seeds and data sets."""

    profile = "smoke"
    device = "cpu"

    def __init__(self, params: RawParams) -> None:
        self.params = params

    def seed(self, stream: str) -> int:
        return derive_seed(stream, {"seed": self.params.get("seed", 0)})

    def dataset(self, name: str) -> Content:
        return datasets.load(name)


def verdicts(task: Task) -> dict[str, Word]:
    (experiment,) = task.reads
    rows: list[dict[str, Any]] = []
    for params in experiment.params_of("smoke"):
        context: Any = Context(params)
        found: Any = experiment.function(experiment.run)(experiment.typed(params), context)
        rows += [{**params, **row, "status": "done"} for row in found]
    table = build_table(task, {experiment.id: pd.DataFrame(rows)})
    return {
        claim.id: controlled(claim, table, seed=task.table.seed, profile="smoke").word
        for claim in task.claims
        if claim.scope.grade == "exact"
    }


@pytest.mark.parametrize("word", TABLES)
def test_exact_claims_hold_at_smoke(word: str) -> None:
    task, _ = TABLES[word]
    found = verdicts(task)
    assert found and set(found.values()) == {Word.HOLDS}


def test_a_wrong_sign_in_the_unit_fails_its_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relu_unit, "sign", lambda weights: -torch.sign(weights))
    assert set(verdicts(FIG27).values()) == {Word.FAILS}


def test_noise_without_the_weights_sign_fails_the_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax, "sign", torch.ones_like)
    assert set(verdicts(FIG10).values()) == {Word.FAILS}


def test_a_wrong_gradient_fails_the_bracket(monkeypatch: pytest.MonkeyPatch) -> None:
    right = trial.metrics

    def twice(weights: Tensor, images: Any, *, direction_CD: Tensor) -> Metrics:
        return right(weights, images, direction_CD=2.0 * direction_CD)

    monkeypatch.setattr(trial, "metrics", twice)
    assert verdicts(FIG29) == {"gradient_brackets_loss": Word.FAILS}
