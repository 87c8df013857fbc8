"""(FG)2U: unbiased, with the error of Lemma 3.1, whatever the chunk, and constant in memory."""

from __future__ import annotations

import itertools
import warnings

import pytest
import torch
from torch import Tensor

from harness.data.bundled import digits
from reproductions.fg2u import Problem, Sgd, hypergradient
from reproductions.fg2u.differences.trial import in_dtype
from reproductions.fg2u.method.directions import Directions
from reproductions.fg2u.method.forward import Fg2u
from reproductions.fg2u.models.digits import learned_rates
from tests.reproductions.fg2u.method.test_exact import flat
from tests.reproductions.fg2u.small import batch, condensation, images, quadratic

RANDOM = ("rademacher", "philox", "gaussian")


def every_sign(num_entries: int) -> Tensor:
    return torch.tensor(list(itertools.product((-1.0, 1.0), repeat=num_entries)))


def test_the_mean_over_all_signs_is_exact_and_their_error_lemma_3_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, phi = quadratic(num_steps=2, num_entries=6)
    exact, rows = hypergradient("rgu")(problem, phi).grad, every_sign(6)
    monkeypatch.setattr(Directions, "rows", lambda self, numbers, device: rows[list(numbers)])
    all_of_them = hypergradient("fg2u", num_directions=len(rows), chunk=16)(problem, phi).grad
    assert torch.allclose(all_of_them, exact, rtol=1e-12)
    squares = []
    for number in range(len(rows)):
        monkeypatch.setattr(Directions, "rows", lambda self, numbers, device, n=number: rows[[n]])
        one = hypergradient("fg2u", num_directions=1)(problem, phi).grad
        squares.append((one - exact).square().sum())
    error = torch.stack(squares).mean() / exact.square().sum()
    assert float(error) == pytest.approx(6 - 1, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "kind"),
    [*(("fg2u", kind) for kind in RANDOM), ("fg2u", "coordinate"), ("fg2u-zo", "rademacher")],
)
def test_the_chunk_changes_nothing(name: str, kind: str) -> None:
    found = []
    for chunk in (1, 5, 12):
        method = hypergradient(name, num_directions=12, chunk=chunk, directions=kind)
        meta = method(
            condensation(Sgd(lr=0.1), num_steps=3),
            images(),
            batch(),
            torch.Generator().manual_seed(3),
        )
        found.append(flat(meta.grad))
    assert torch.allclose(found[0], found[1], rtol=1e-6, atol=1e-9)
    assert torch.allclose(found[0], found[2], rtol=1e-6, atol=1e-9)


def test_the_generator_decides_the_directions() -> None:
    method, problem = hypergradient("fg2u", num_directions=3), condensation(Sgd(lr=0.1))
    generator = torch.Generator().manual_seed(0)
    first, second = (flat(method(problem, images(), batch(), generator).grad) for _ in range(2))
    again = method(problem, images(), batch(), torch.Generator().manual_seed(0))
    assert torch.equal(first, flat(again.grad)) and not torch.allclose(first, second)


def test_what_is_said_of_the_noise_is_true() -> None:
    """Over many draws: the gradient's norm and the error's, told from the slopes alone."""
    problem, phi = quadratic(num_steps=2, num_entries=8)
    exact = hypergradient("rgu")(problem, phi).grad
    method, generator = (
        hypergradient("fg2u", num_directions=2, chunk=2),
        torch.Generator().manual_seed(0),
    )
    runs = [method(problem, phi, None, generator) for _ in range(200)]
    errors = torch.stack([(run.grad - exact).square().sum() for run in runs])
    told = torch.tensor([run.stats.noise_norm**2 for run in runs])
    norms = torch.tensor([run.stats.gradient_norm**2 for run in runs])
    size = float(exact.square().sum())
    assert float(norms.mean()) == pytest.approx(size, rel=0.1)
    assert float(errors.mean()) == pytest.approx(7 / 2 * size, rel=0.15)
    assert float(told.mean()) == pytest.approx(7 / 2 * size, rel=0.1)


@pytest.mark.parametrize(("kind", "entries"), [("gaussian", 9), ("rademacher", 7), ("philox", 7)])
def test_the_noise_of_gaussian_directions_has_two_entries_more(kind: str, entries: int) -> None:
    """The same slopes tell (N+1)/b of the gradient's square, Rademacher's (N-1)/b."""
    problem, phi = quadratic(num_steps=5, num_entries=8)
    method = hypergradient("fg2u", num_directions=3, directions=kind)
    stats = method(problem, phi, None, torch.Generator().manual_seed(0)).stats
    assert stats.noise_norm == pytest.approx((entries / 3) ** 0.5 * stats.gradient_norm)


def test_differences_that_vanish_are_warned_of() -> None:
    problem, phi = quadratic(num_steps=2)
    with pytest.warns(RuntimeWarning, match="exactly 0.*mu is too small"):
        hypergradient("fg2u-zo", num_directions=2, mu=1e-30)(problem, phi)


@pytest.mark.parametrize("chunk", [1, 3, 8])
def test_forward_differences_of_a_phi_that_does_not_move_are_zero(chunk: int) -> None:
    """A batched run rounds in another way than a single one, and mu divides that."""
    instance = in_dtype(learned_rates(digits(), num_meta=10, num_steps=4, seed=0), torch.float32)
    method = hypergradient(
        "fg2u-zo", num_directions=8, chunk=chunk, mu=1e-20, scheme="forward", directions="gaussian"
    )
    with pytest.warns(RuntimeWarning, match="exactly 0"):
        found = method(instance.problem, instance.phi, instance.batch)
    assert not found.grad.any()


def test_differences_near_the_derivative_by_mu() -> None:
    problem, phi = condensation(Sgd(lr=0.1)), images()
    exact = flat(hypergradient("rgu")(problem, phi, batch()).grad)
    errors = {}
    for scheme, mu in itertools.product(("forward", "central"), (1e-2, 1e-3)):
        method = hypergradient(
            "fg2u-zo", num_directions=len(exact), directions="coordinate", mu=mu, scheme=scheme,
            chunk=len(exact),
        )  # fmt: skip
        errors[scheme, mu] = float((flat(method(problem, images(), batch()).grad) - exact).norm())
    assert errors["forward", 1e-2] / errors["forward", 1e-3] == pytest.approx(10, rel=0.2)
    assert errors["central", 1e-2] / errors["central", 1e-3] == pytest.approx(100, rel=0.2)


def test_a_grid_of_directions_is_nearly_exact_for_few_coefficients() -> None:
    """h = u v^2 at (1, 2): the weights sum to one and the nodes to the identity, to 1e-4."""
    problem = Problem(
        start=lambda phi, batch: phi,
        step=lambda state, phi, batch, number: 1.0 * state,
        outer_loss=lambda state, phi, batch: state[0] * state[1].square(),
        num_steps=1,
    )
    phi = torch.tensor([1.0, 2.0], dtype=torch.float64)
    method = hypergradient("fg2u", num_directions=1, chunk=16, directions="gauss-grid")
    meta = method(problem, phi)
    assert meta.grad.tolist() == pytest.approx([4.0, 4.0], rel=1e-4)
    assert meta.stats.num_directions == 144 and meta.stats.noise_norm is None


def test_a_tangent_that_explodes_is_warned_of() -> None:
    # The inner descent doubles its distance each step: 2 = |1 - lr * 3|.
    problem = Problem(
        start=lambda phi, batch: phi,
        step=lambda state, phi, batch, number: state - 3.0 * state,
        outer_loss=lambda state, phi, batch: state.square().sum(),
        num_steps=12,
    )
    phi = torch.ones(3)
    with pytest.warns(RuntimeWarning, match="a tangent grew 4096 times"):
        Fg2u(num_directions=2)(problem, phi)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Fg2u(num_directions=2)(quadratic(num_steps=5)[0], quadratic(num_steps=5)[1])
        # Double precision has digits to spare.
        Fg2u(num_directions=2)(problem, phi.double())
