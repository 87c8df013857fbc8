"""Dirichlet splits: every sample once, the shape of the split, degenerate clients."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.errors import DataError, SpecError
from reproductions.asymvalley.method.federated import split
from reproductions.asymvalley.method.federated.split import dirichlet_split

LABELS = np.arange(2000) % 10


@pytest.mark.parametrize("alpha", [0.1, 0.5, 10.0])
def test_every_sample_belongs_to_one_client(alpha: float) -> None:
    parts = dirichlet_split(LABELS, num_clients=7, alpha=alpha, seed=3)
    assert len(parts) == 7
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(LABELS)))


def class_counts(alpha: float, seed: int) -> np.ndarray:
    parts = dirichlet_split(LABELS, num_clients=8, alpha=alpha, seed=seed)
    return np.array([np.bincount(LABELS[part], minlength=10) for part in parts])


def test_small_alpha_makes_clients_less_alike() -> None:
    spread = [
        np.mean([class_counts(alpha, seed).std(axis=0) for seed in range(5)])
        for alpha in (0.1, 1.0, 10.0, 1e6)
    ]
    assert spread == sorted(spread, reverse=True)
    assert np.ptp(class_counts(1e6, 0)) <= 2  # 200 of a class over 8 clients: 25 each


def test_shares_of_a_class_follow_the_normalised_draw() -> None:
    """Against the authors' rule, computed apart: columns of Dir rows, normalised over clients."""
    shares = np.random.default_rng(5).dirichlet(np.full(10, 2.0), size=6)
    shares /= shares.sum(axis=0)
    parts = dirichlet_split(LABELS, num_clients=6, alpha=2.0, seed=5)
    counts = np.array([np.bincount(LABELS[part], minlength=10) for part in parts])
    assert np.abs(counts - 200 * shares).max() <= 1.0


def test_equal_seeds_give_equal_splits_and_others_do_not() -> None:
    first, same, other = (
        dirichlet_split(LABELS, num_clients=5, alpha=1.0, seed=seed) for seed in (1, 1, 2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(first, same, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_degenerate_clients_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.arange(36) % 3
    first = dirichlet_split(labels, num_clients=6, alpha=0.5, seed=0, min_samples=0)
    assert min(map(len, first)) < 5
    again = dirichlet_split(labels, num_clients=6, alpha=0.5, seed=0)
    assert min(map(len, again)) >= 5
    # That split came later than the first draw.
    monkeypatch.setattr(split, "MAX_DRAWS", 1)
    with pytest.raises(DataError):
        dirichlet_split(labels, num_clients=6, alpha=0.5, seed=0)


def test_a_hopeless_split_ends_after_100_draws() -> None:
    with pytest.raises(DataError, match="100 draws of 20 samples over 6 clients"):
        dirichlet_split(np.arange(20) % 2, num_clients=6, alpha=1.0, seed=0)


@pytest.mark.parametrize(("num_clients", "alpha"), [(0, 1.0), (3, 0.0), (3, -1.0)])
def test_senseless_splits_are_refused(num_clients: int, alpha: float) -> None:
    with pytest.raises(SpecError, match="alpha > 0"):
        dirichlet_split(LABELS, num_clients=num_clients, alpha=alpha, seed=0)


@pytest.mark.parametrize("alpha", [0.0, math.nan, math.inf])
def test_an_alpha_of_no_distribution_is_refused(alpha: float) -> None:
    with pytest.raises(SpecError, match="finite alpha > 0"):
        dirichlet_split(np.zeros(100, dtype=int), num_clients=2, alpha=alpha, seed=0)
