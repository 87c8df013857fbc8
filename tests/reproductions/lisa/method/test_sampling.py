"""Samplers draw what they say, from a generator of their own."""

from __future__ import annotations

import math

import pytest
import torch
from scipy import stats

from reproductions.lisa import RandomSampler, expected_coverage

PERIODS = 4000


def draws(
    kind: str, *, gamma: int = 3, num_blocks: int = 10, seed: int = 0
) -> list[tuple[int, ...]]:
    sampler = RandomSampler(num_blocks, gamma=gamma, seed=seed, kind=kind)  # type: ignore[arg-type]
    return [sampler.draw() for _ in range(PERIODS)]


def test_exact_draws_gamma_distinct_blocks_in_order() -> None:
    for drawn in draws("exact"):
        assert len(set(drawn)) == 3
        assert list(drawn) == sorted(drawn)


@pytest.mark.parametrize("kind", ["exact", "bernoulli"])
def test_every_block_is_drawn_alike(kind: str) -> None:
    counts = torch.zeros(10)
    for drawn in draws(kind):
        counts[list(drawn)] += 1
    assert stats.chisquare(counts.numpy()).pvalue > 1e-3
    assert float(counts.sum()) / PERIODS == pytest.approx(3.0, abs=0.1)


def test_bernoulli_numbers_are_binomial() -> None:
    sizes = torch.tensor([len(drawn) for drawn in draws("bernoulli")], dtype=torch.float64)
    assert float(sizes.var()) == pytest.approx(10 * 0.3 * 0.7, rel=0.1)
    assert float((sizes == 0).double().mean()) == pytest.approx(0.7**10, abs=0.01)


@pytest.mark.parametrize("kind", ["exact", "bernoulli"])
def test_neither_end_leaves_anything_to_chance(kind: str) -> None:
    assert set(draws(kind, gamma=0)) == {()}
    assert set(draws(kind, gamma=10)) == {tuple(range(10))}


def test_a_stored_state_goes_on_with_the_same_draws_and_no_global_seed_is_touched() -> None:
    before = torch.get_rng_state()
    sampler = RandomSampler(10, gamma=3, seed=7, kind="exact")
    for _ in range(5):
        sampler.draw()
    other = RandomSampler(10, gamma=3, seed=99, kind="exact")
    other.load_state_dict(sampler.state_dict())
    assert [other.draw() for _ in range(20)] == [sampler.draw() for _ in range(20)]
    assert torch.equal(torch.get_rng_state(), before)


def test_coverage_is_what_draws_cover_on_average() -> None:
    covered = [
        len({block for _ in range(10) for block in sampler.draw()})
        for sampler in (RandomSampler(32, gamma=2, seed=s, kind="exact") for s in range(400))
    ]
    error = torch.tensor(covered, dtype=torch.float64).std().item() / math.sqrt(400)
    mean = sum(covered) / 400
    assert mean == pytest.approx(expected_coverage(32, gamma=2, periods=10), abs=4 * error)
