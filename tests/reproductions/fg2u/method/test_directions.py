"""Directions are functions of (seed, number), and make an identity together."""

from __future__ import annotations

import pytest
import torch

from harness.errors import SpecError
from reproductions.fg2u.method.directions import Kind, make_directions
from reproductions.kernels.rademacher.plain import signs


@pytest.mark.parametrize("kind", ["rademacher", "philox", "gaussian", "coordinate"])
def test_a_direction_is_its_number_s(kind: Kind) -> None:
    drawn = make_directions(kind, 6, 8, seed=5)
    rows = drawn.rows(range(6))
    assert torch.equal(rows[[4, 1]], drawn.rows([4, 1])) and rows.shape == (6, 8)
    assert not torch.equal(rows, make_directions(kind, 6, 8, seed=6).rows(range(6)))
    assert not torch.equal(rows[0], rows[1])


@pytest.mark.parametrize("kind", ["rademacher", "gaussian"])
def test_random_directions_have_the_identity_for_covariance(kind: Kind) -> None:
    rows = make_directions(kind, 2_000, 4, seed=0).rows(range(2_000))
    assert torch.allclose(rows.T @ rows / len(rows), torch.eye(4), atol=0.12)
    assert float(rows.mean(0).abs().max()) < 0.09
    if kind == "rademacher":
        assert set(rows.flatten().tolist()) == {-1.0, 1.0}


def test_signs_from_a_counter_are_the_kernels_and_are_summed_again() -> None:
    drawn = make_directions("philox", 300, 5, seed=7)
    rows = drawn.rows(range(300))
    assert torch.equal(rows, signs(7, range(300), 5, torch.device("cpu")))
    assert torch.allclose(rows.T @ rows / 300, torch.eye(5), atol=4 / 300**0.5)
    weight_C = torch.linspace(-1.0, 1.0, 300, dtype=torch.float64)
    summed = drawn.combined(weight_C, range(300), {"a": torch.empty(2), "b": torch.empty(3, 1)})
    assert {name: leaf.shape for name, leaf in summed.items()} == {"a": (2,), "b": (3, 1)}
    flat = torch.cat([summed["a"], summed["b"].flatten()])
    assert torch.allclose(flat.double(), weight_C @ rows.double(), rtol=1e-5, atol=1e-5)


def test_all_coordinates_make_the_identity() -> None:
    drawn = make_directions("coordinate", 7, 7, seed=0)
    rows = drawn.rows(range(7)).double()
    weights = drawn.weights(range(7))
    assert torch.allclose((rows.T * weights) @ rows, torch.eye(7, dtype=torch.float64), atol=1e-6)


def test_the_grid_weighs_its_nodes_as_a_normal_density() -> None:
    drawn = make_directions("gauss-grid", 1, 2, seed=0)
    rows, weights = drawn.rows(range(drawn.count)).double(), drawn.weights(range(drawn.count))
    assert drawn.count == 144 and float(weights.sum()) == pytest.approx(1.0)
    assert torch.allclose((rows.T * weights) @ rows, torch.eye(2, dtype=torch.float64), atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "count", "entries", "said"),
    [
        ("rademacher", 0, 3, "at least one"),
        ("coordinate", 4, 3, "only 3 coordinates"),
        ("gauss-grid", 1, 4, r"12\^4 directions"),
        ("sobol", 1, 4, "write one of rademacher"),
    ],
)
def test_impossible_directions_are_refused(kind: Kind, count: int, entries: int, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        make_directions(kind, count, entries, seed=0)
