"""Shares a labelled training set out to clients, more unevenly the smaller alpha is."""

from __future__ import annotations

import math

import numpy as np

from harness.errors import DataError, SpecError

MIN_SAMPLES = 5
"""A client with fewer is degenerate; the authors' code drops it, here the split is drawn again."""
MAX_DRAWS = 100


def dirichlet_split(
    labels_N: np.ndarray,
    *,
    num_clients: int,
    alpha: float,
    seed: int,
    min_samples: int = MIN_SAMPLES,
) -> list[np.ndarray]:
    """Return each client's sample numbers, ascending; every sample belongs to one client.

    Each client draws a distribution over classes from Dir(alpha, ..., alpha); the column of a
    class, normalised over clients, tells which part of the class goes to whom. Drawn anew, whole,
    while a client has fewer than `min_samples`, at most 100 times.
    Raises SpecError for no client or an alpha that is not finite and positive, DataError if no
    draw is good.
    Source: paper section 6.2, Dir(alpha); the authors' FL code, from which this deviates: it
    drops degenerate clients.
    """
    if num_clients < 1 or not 0.0 < alpha < math.inf:
        raise SpecError(
            f"num_clients={num_clients}, alpha={alpha}: need at least one client, and a finite"
            " alpha > 0"
        )
    rng = np.random.default_rng(seed)
    smallest = 0
    for _ in range(MAX_DRAWS):
        parts = _draw(labels_N, num_clients, alpha, rng)
        smallest = min(len(part) for part in parts)
        if smallest >= min_samples:
            return parts
    raise DataError(
        f"{MAX_DRAWS} draws of {len(labels_N)} samples over {num_clients} clients with"
        f" alpha={alpha:g} all left a client with fewer than {min_samples} samples (the last one:"
        f" {smallest}): take fewer clients, more samples or a larger alpha"
    )


def _draw(
    labels_N: np.ndarray, num_clients: int, alpha: float, rng: np.random.Generator
) -> list[np.ndarray]:
    classes = np.unique(labels_N)
    shares_KC = rng.dirichlet(np.full(len(classes), alpha), size=num_clients)
    # A class that underflows to zero for every client would divide by zero.
    shares_KC = np.maximum(shares_KC, np.finfo(float).tiny)
    shares_KC /= shares_KC.sum(axis=0, keepdims=True)
    parts: list[list[np.ndarray]] = [[] for _ in range(num_clients)]
    for column, label in enumerate(classes):
        members = rng.permutation(np.flatnonzero(labels_N == label))
        cuts = np.rint(np.cumsum(shares_KC[:, column]) * len(members)).astype(int)[:-1]
        for part, piece in zip(parts, np.split(members, cuts), strict=True):
            part.append(piece)
    return [np.sort(np.concatenate(part)) for part in parts]
