"""Dirichlet splits: every sample once, the shape of the split, degenerate clients."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.errors import DataError, SpecError
from reproductions.asymvalley.method.federated import split
from reproductions.asymvalley.method.federated.split import dirichlet_split

LABELS = np.arange(2000) % 10


def test_shares_of_a_class_follow_the_normalised_draw() -> None:
    """Against the authors' rule, computed apart: columns of Dir rows, normalised over clients."""
    shares = np.random.default_rng(5).dirichlet(np.full(10, 2.0), size=6)
    shares /= shares.sum(axis=0)
    parts = dirichlet_split(LABELS, num_clients=6, alpha=2.0, seed=5)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(LABELS)))
    counts = np.array([np.bincount(LABELS[part], minlength=10) for part in parts])
    assert np.abs(counts - 200 * shares).max() <= 1.0


def test_degenerate_clients_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.arange(36) % 3
    first = dirichlet_split(labels, num_clients=6, alpha=0.5, seed=0, min_samples=0)
    assert min(map(len, first)) < 5
    again = dirichlet_split(labels, num_clients=6, alpha=0.5, seed=0)
    assert min(map(len, again)) >= 5
    # That split came later than the first draw.
    monkeypatch.setattr(split, "MAX_DRAWS", 1)
    with pytest.raises(DataError, match="1 draws of 36 samples over 6 clients"):
        dirichlet_split(labels, num_clients=6, alpha=0.5, seed=0)


@pytest.mark.parametrize("alpha", [0.0, math.nan])
def test_an_alpha_of_no_distribution_is_refused(alpha: float) -> None:
    with pytest.raises(SpecError, match="finite alpha > 0"):
        dirichlet_split(LABELS, num_clients=2, alpha=alpha, seed=0)
