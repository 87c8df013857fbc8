"""(FG)2U that walks back through the outer loss gives the estimate of the one that does not."""

from __future__ import annotations

import pytest
import torch

from reproductions.fg2u import Adam, Fg2uAdjoint, Problem, Sgd, hypergradient
from reproductions.fg2u.method.optimizers import Optimizer
from tests.reproductions.fg2u.method.test_exact import flat
from tests.reproductions.fg2u.small import batch, condensation, images, quadratic

OPTIMIZERS = [Sgd(lr=0.1), Sgd(lr=0.1, momentum=0.9), Adam(lr=0.05)]


def drawn() -> torch.Generator:
    return torch.Generator().manual_seed(3)


@pytest.mark.parametrize(("optimizer", "chunk"), [*zip(OPTIMIZERS, (1, 5, 12), strict=True)])
def test_the_estimate_is_fg2u_s(optimizer: Optimizer, chunk: int) -> None:
    """The outer loss of this problem has a derivative by phi of its own, which counts too."""
    problem = condensation(optimizer, num_steps=3)
    plain = hypergradient("fg2u", num_directions=12, chunk=chunk)
    back = Fg2uAdjoint(num_directions=12, chunk=chunk)
    expected, found = (m(problem, images(), batch(), drawn()) for m in (plain, back))
    assert torch.allclose(flat(found.grad), flat(expected.grad), rtol=1e-10, atol=1e-12)
    assert float(found.outer_value) == pytest.approx(float(expected.outer_value), rel=1e-12)
    assert found.stats.growth == pytest.approx(expected.stats.growth, rel=1e-10)
    assert found.stats.noise_norm == pytest.approx(expected.stats.noise_norm, rel=1e-10)


def test_an_outer_loss_that_is_dear_is_walked_once() -> None:
    """Live bytes of a chunk do not grow with directions times the outer batch."""
    problem, phi = quadratic(num_steps=3)

    def outer(theta: torch.Tensor, phi: torch.Tensor, batch: object) -> torch.Tensor:
        wide = torch.tanh(theta[:, None] * torch.linspace(0, 1, 5000, dtype=theta.dtype))
        return wide.square().mean()

    dear = Problem(start=problem.start, step=problem.step, outer_loss=outer, num_steps=3)
    peaks = [
        made(num_directions=16, chunk=16, measure_memory=True)(dear, phi).stats.peak_bytes
        for made in (Fg2uAdjoint, lambda **given: hypergradient("fg2u", **given))
    ]
    assert peaks[0] is not None and peaks[1] is not None and 4 * peaks[0] < peaks[1]


@pytest.mark.parametrize("name", ["adjoint", "adjoint, one at a time", "differences of the result"])
def test_a_state_may_be_complex_and_count_steps(name: str) -> None:
    """The outer loss sees both parts, so that a product without a conjugate shows."""
    problem = Problem(
        start=lambda phi, batch: {"z": torch.ones(2) * (1 + 0.5j), "n": torch.tensor(0)},
        step=lambda state, phi, batch, number: {
            "z": state["z"] * torch.exp(1j * phi), "n": state["n"] + 1
        },
        outer_loss=lambda state, phi, batch: (
            (state["z"].real.square() * state["z"].imag).sum() * state["n"]
        ),
        num_steps=3,
    )  # fmt: skip
    phi, every = (
        torch.tensor([0.3, 0.8]).double(),
        {"num_directions": 2, "directions": "coordinate"},
    )
    method = {
        "adjoint": Fg2uAdjoint(chunk=2, **every),
        "adjoint, one at a time": Fg2uAdjoint(**every),
        "differences of the result": hypergradient("fg2u-zo", differences="result", **every),
    }[name]
    exact = hypergradient("rgu")(problem, phi).grad
    assert torch.allclose(method(problem, phi).grad, exact, rtol=1e-4)
