"""Grids, searches and trials: what they promise, and a run of the smallest."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from harness.data import load as datasets
from harness.store.trial import grid_of
from reproductions.asymvalley.federated.experiment import (
    ALGORITHMS,
    SEARCH_SEED,
    Cell,
    grid,
    runs,
    searches,
)
from reproductions.asymvalley.federated.trial import (
    algorithm_of,
    cell_rows,
    federation_of,
    rows_of,
    search_rows,
    settings_with,
)
from reproductions.asymvalley.method.federated.simulator import RoundLog, Run
from reproductions.asymvalley.models.images import DIGITS_TEST
from tests.made_runs import MadeRun


def context(params: Any, rows: list[Any] | None = None) -> MadeRun:
    return MadeRun({"seed": params.seed}, kept=SimpleNamespace(rows=rows))


def smoke(algorithm: str) -> Cell:
    return next(cell for cell in grid("smoke") if cell.algorithm == algorithm)


@pytest.mark.parametrize("profile", ["smoke", "cpu", "gpu", "paper"])
def test_algorithms_are_searched_alike_and_on_a_seed_of_its_own(profile: Any) -> None:
    fixed = ("fedavg", "fedsign", "fedsign_tenth") if profile == "cpu" else ()
    for point in runs.params_of(profile):
        tried = 1 if point["algorithm"] in fixed else 2 if profile == "smoke" else 3
        assert len(str(point["candidates"]).split()) == tried
    found = {trial.key for trial in grid_of(searches, profile)}
    trials = grid_of(runs, profile)
    assert {up.key for trial in trials for up in trial.upstream} == found
    assert SEARCH_SEED not in {trial.params["seed"] for trial in trials}


def test_fedavgs_candidate_is_its_weight_decay_and_no_one_elses() -> None:
    assert settings_with(smoke("fedavg"), "5e-4").local.weight_decay == 5e-4
    for algorithm in ALGORITHMS[1:]:
        candidate = smoke(algorithm).candidates.split()[0]
        assert settings_with(smoke(algorithm), candidate).local.weight_decay == 1e-5
        assert algorithm_of(smoke(algorithm), candidate).name == algorithm


def test_held_out_images_are_no_clients_and_splits_do_not_depend_on_the_algorithm() -> None:
    params = smoke("fedsign")
    found = federation_of(params, context(params))
    same = federation_of(smoke("moon"), context(params))
    assert sum(len(c.labels_S) for c in found.clients) == 240
    assert len(found.validation.labels_S) == 100
    assert len(found.test.labels_S) == 360
    for ours, theirs in zip(found.clients, same.clients, strict=True):
        assert torch.equal(ours.images_SHWC, theirs.images_SHWC)
    images = {image.numpy().tobytes() for c in found.clients for image in c.images_SHWC}
    held = {image.numpy().tobytes() for image in found.validation.images_SHWC}
    assert not images & held
    pixels = torch.cat([c.images_SHWC for c in found.clients])
    assert abs(float(pixels.mean())) < 1e-5
    assert abs(float(pixels.std()) - 1.0) < 1e-4


def without(seen: str, params: Any, rows: list[Any] | None = None) -> MadeRun:
    """Return a context whose test images or labels are others: `x` brighter, `y` one class on."""
    arrays = {name: array.copy() for name, array in datasets.load("digits").arrays.items()}
    arrays[seen][-DIGITS_TEST:] += 1
    arrays["y"] %= 10
    return replace(context(params, rows), data={"digits": arrays})


def test_test_images_are_normalised_as_the_clients_are() -> None:
    params = smoke("fedsign")
    known, brighter = (federation_of(params, c) for c in (context(params), without("x", params)))
    for ours, theirs in zip(known.clients, brighter.clients, strict=True):
        assert torch.equal(ours.images_SHWC, theirs.images_SHWC)
    digits = datasets.load("digits").arrays["x"]
    order = np.random.default_rng(context(params).seed("images")).permutation(1797 - DIGITS_TEST)
    pixels = torch.tensor(digits[order[: params.num_train]], dtype=torch.float64)
    pooled = torch.tensor(digits[-DIGITS_TEST:], dtype=torch.float64)
    expected = (pooled - pixels.mean()) / pixels.std()
    torch.testing.assert_close(
        known.test.images_SHWC[..., 0].double(), expected, rtol=1e-4, atol=1e-4
    )
    # Another pixel's worth, not another normalisation.
    step = (brighter.test.images_SHWC - known.test.images_SHWC).double()
    torch.testing.assert_close(step, torch.ones_like(step) / pixels.std(), rtol=1e-4, atol=1e-5)


def test_a_search_does_not_see_the_test_images() -> None:
    params = replace(smoke("fedsign"), candidates="0.0001 0.001", rounds=1)
    known, other = context(params), without("y", params)
    rows = search_rows(params.search(), known)
    assert search_rows(params.search(), other) == rows
    accuracies = [cell_rows(params, c).rows[-1]["test_accuracy"] for c in (
        context(params, rows), without("y", params, rows))]  # fmt: skip
    assert accuracies[0] != accuracies[1]


def test_search_chooses_the_most_accurate_and_the_run_takes_it() -> None:
    params = replace(smoke("fedsign"), candidates="100 0.001")
    rows = search_rows(params.search(), context(params))
    accuracies = [row["validation_accuracy"] for row in rows]
    assert [row["chosen"] for row in rows] == [a == max(accuracies) for a in accuracies]
    chosen = next(row for row in rows if row["chosen"])
    outcome = cell_rows(params, context(params, rows))
    assert {row["candidate"] for row in outcome.rows} == {chosen["candidate"]}
    assert [row["part"] for row in outcome.rows] == ["round", "round", "final"]
    again = cell_rows(params, context(params, rows))
    assert outcome.rows == again.rows


def test_final_row_is_over_the_second_half() -> None:
    params = replace(smoke("fedsign"), rounds=4, eval_every=4)
    logs = [
        RoundLog(round=i + 1, same_sign_ratio=s, extra_loss=-s, accuracy=a)
        for i, (s, a) in enumerate([(0.0, None), (0.0, None), (0.6, None), (0.8, 0.5)])
    ]
    run = Run(server=None, logs=tuple(logs), diverged="")  # type: ignore[arg-type]
    chosen = {"candidate": "0.1", "coefficient": 0.1, "validation_accuracy": 0.4}
    final = list(rows_of(params, run, chosen))[-1]
    assert final["same_sign_ratio"] == pytest.approx(0.7)
    assert final["penalty"] == pytest.approx(-0.7)
    assert final["test_accuracy"] == 0.5
