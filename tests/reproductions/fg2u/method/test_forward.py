"""(FG)2U: unbiased, with the error of Lemma 3.1, whatever the chunk, and constant in memory."""

from __future__ import annotations

import itertools
import warnings

import pytest
import torch

from harness.data.bundled import digits
from reproductions.fg2u import Problem, Sgd, hypergradient
from reproductions.fg2u.differences.trial import in_dtype
from reproductions.fg2u.method.forward import Fg2u
from reproductions.fg2u.models.digits import learned_rates
from tests.reproductions.fg2u.method.test_exact import flat
from tests.reproductions.fg2u.small import batch, condensation, images, quadratic


@pytest.mark.parametrize(
    ("name", "kind"),
    [("fg2u", "philox"), ("fg2u", "coordinate"), ("fg2u-zo", "rademacher")],
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


@pytest.mark.parametrize(("kind", "entries"), [("gaussian", 9), ("rademacher", 7), ("philox", 7)])
def test_the_noise_of_gaussian_directions_has_two_entries_more(kind: str, entries: int) -> None:
    """The same slopes tell (N+1)/b of the gradient's square, Rademacher's (N-1)/b."""
    problem, phi = quadratic(num_steps=5, num_entries=8)
    method = hypergradient("fg2u", num_directions=3, directions=kind)
    stats = method(problem, phi, None, torch.Generator().manual_seed(0)).stats
    assert stats.noise_norm == pytest.approx((entries / 3) ** 0.5 * stats.gradient_norm)


def test_forward_differences_of_a_phi_that_does_not_move_are_zero() -> None:
    """A batched run rounds in another way than a single one, and mu divides that."""
    instance = in_dtype(learned_rates(digits(), num_meta=10, num_steps=4, seed=0), torch.float32)
    method = hypergradient(
        "fg2u-zo", num_directions=8, chunk=3, mu=1e-20, scheme="forward", directions="gaussian"
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
