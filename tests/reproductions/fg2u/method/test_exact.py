"""Exact methods agree with finite differences, with each other, and with a plain autograd loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
import torch
from torch import Tensor

from reproductions.fg2u import Adam, Problem, Sgd, from_loss, hypergradient
from reproductions.fg2u.method.estimator import MetaGrad
from reproductions.fg2u.method.trees import Tree, num_entries, tree_leaves, tree_map
from tests.reproductions.fg2u.small import batch, condensation, drawn, images, quadratic


def learned_rate(phi: Tree, number: int) -> Tensor:
    return 0.1 * torch.exp(phi["log_decay"][0] + 5.0) / (1 + number)


OPTIMIZERS = {
    "sgd": Sgd(lr=0.1),
    "momentum": Sgd(lr=0.1, momentum=0.9),
    "adam": Adam(lr=0.05),
    "learned": Sgd(lr=learned_rate),
    # The rate's derivative is a product with the momentum.
    "learned, momentum": Sgd(lr=learned_rate, momentum=0.9),
}
NUM_ENTRIES = num_entries(images())
EXACT = [
    ("rgu-checkpoint", {}),
    ("rgu-checkpoint", {"segment": 4}),
    ("rgu-mixflow", {}),
    ("rgu-mixflow", {"segment": 0}),
    ("rgu-mixflow", {"segment": 4}),
    ("fgu", {}),
    ("fg2u", {"num_directions": NUM_ENTRIES, "chunk": 7, "directions": "coordinate"}),
    ("trgu", {"keep": 6}),
]


def flat(tree: Tree) -> Tensor:
    return torch.cat([leaf.flatten() for leaf in tree_leaves(tree)])


def by_differences(problem: Problem, phi: Tree) -> Tensor:
    """Return central differences of h along every coordinate."""
    found, size = [], 1e-5
    for name, leaf in phi.items():
        for place in range(leaf.numel()):
            step = torch.zeros_like(leaf)
            step.view(-1)[place] = size
            above, below = (
                problem.unroll({**phi, name: leaf + sign * step}, batch())[0] for sign in (1, -1)
            )
            found.append((above - below) / (2 * size))
    return torch.stack(found)


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_rgu_is_the_derivative(optimizer: Sgd | Adam) -> None:
    problem, phi = condensation(optimizer), images()
    meta = hypergradient("rgu")(problem, phi, batch())
    assert torch.allclose(flat(meta.grad), by_differences(problem, phi), rtol=1e-6, atol=1e-8)
    assert float(meta.outer_value) == pytest.approx(float(problem.unroll(phi, batch())[0]))


@cache
def by_rgu(optimizer: str) -> MetaGrad:
    return hypergradient("rgu")(condensation(OPTIMIZERS[optimizer]), images(), batch())


@pytest.mark.parametrize("optimizer", ["momentum", "adam", "learned, momentum"])
@pytest.mark.parametrize(("name", "options"), EXACT, ids=lambda value: str(value))
def test_exact_methods_agree(name: str, options: dict[str, object], optimizer: str) -> None:
    exact = by_rgu(optimizer)
    meta = hypergradient(name, **options)(condensation(OPTIMIZERS[optimizer]), images(), batch())
    assert torch.allclose(flat(meta.grad), flat(exact.grad), rtol=1e-10, atol=1e-13)
    assert float(meta.outer_value) == pytest.approx(float(exact.outer_value), abs=1e-13)


@pytest.mark.parametrize(
    ("name", "options"),
    [("rgu-checkpoint", {}), ("rgu-mixflow", {"segment": 3}), ("fg2u-zo", {"num_directions": 3})],
)
def test_inner_steps_are_counted_as_they_are_taken(name: str, options: dict[str, object]) -> None:
    calls: list[int] = []

    def loss(theta: Tensor, phi: Tensor, batch: object, number: int) -> Tensor:
        calls.append(number)
        return (theta - phi).square().sum()

    problem = from_loss(
        start=lambda phi, batch: 0.1 * phi,
        loss=loss,
        outer_loss=lambda theta, phi, batch: theta.square().sum(),
        optimizer=Sgd(lr=0.1),
        num_steps=7,
    )
    method = hypergradient(name, **options)
    # The first call looks at some steps beforehand. Entries differ, so that no direction, whatever
    # is drawn, has a slope of zero: what comes out as zero is looked at again.
    for _ in range(2):
        calls.clear()
        counts = method(problem, torch.tensor([1.0, 2.0])).stats.counts
    # A Hessian's product takes the loss once more.
    assert counts.inner_steps + counts.hvps == len(calls)


def test_phi_is_left_as_it_was() -> None:
    phi = tree_map(lambda leaf: leaf.requires_grad_(), images())
    before = tree_map(torch.clone, phi)
    meta = hypergradient("rgu")(condensation(Sgd(lr=0.1)), phi, batch())
    assert all(leaf.grad is None for leaf in tree_leaves(phi))
    assert not any(leaf.requires_grad for leaf in tree_leaves(meta.grad))
    assert torch.equal(flat(phi), flat(before))


def test_a_skipped_first_step_is_what_trgu_leaves_out() -> None:
    problem, phi = quadratic(num_steps=5)
    skipped = hypergradient("rgu-released")(problem, phi).grad
    assert torch.allclose(skipped, hypergradient("trgu", keep=4)(problem, phi).grad, rtol=1e-12)


@pytest.mark.parametrize("method", ["rgu", "rgu-checkpoint", "rgu-mixflow", "fgu"])
def test_a_start_that_is_phi_itself(method: str) -> None:
    """Meta-learned initial weights, of which the inner loss speaks too: steps from phi itself are
    those from a copy of it."""
    problem = from_loss(
        start=lambda phi, batch: phi,
        loss=lambda theta, phi, batch, number: (theta * phi).square().sum(),
        outer_loss=lambda theta, phi, batch: theta.pow(3).sum(),
        optimizer=Sgd(lr=0.1),
        num_steps=1,
    )
    phi = drawn(3)
    # theta_1 = phi - 0.2 phi^3.
    exact = 3 * (phi - 0.2 * phi**3) ** 2 * (1 - 0.6 * phi**2)
    assert torch.allclose(hypergradient(method)(problem, phi).grad, exact, rtol=1e-12)


SCALED = {
    "phi": (lambda phi: (0.3 * phi["decay"] - 0.1) * phi["others"].sum(), Sgd(lr=0.1)),
    "momentum": (lambda phi: phi["decay"] / 3.0 * phi["others"][1], Sgd(lr=0.1, momentum=0.9)),
    "a mean": (lambda phi: phi["others"].mean() * 0.3 + phi["decay"], Adam(lr=0.01)),
    "an entry": (lambda phi: torch.multiply(phi["others"][0], 0.3) * phi["decay"], Sgd(lr=0.1)),
}


@pytest.mark.parametrize(("scale", "optimizer"), SCALED.values(), ids=SCALED)
def test_in_float32_a_number_may_scale_a_tensor_of_no_dimension(
    scale: Callable[[Tree], Tensor], optimizer: Sgd | Adam
) -> None:
    """Torch's jvp makes float64 of that product's tangent, which no matrix product takes."""

    def found(name: str, dtype: torch.dtype, **options: object) -> Tensor:
        x, y = drawn(8, 6, seed=1).to(dtype), drawn(8, 1, seed=2).to(dtype)
        init = [0.5 * drawn(6, 5, seed=3).to(dtype), 0.5 * drawn(5, 1, seed=4).to(dtype)]

        def fit(weights: list[Tensor]) -> Tensor:
            return (torch.tanh(x @ weights[0]) @ weights[1] - y).square().mean()

        problem = from_loss(
            start=lambda phi, batch: init,
            loss=lambda w, phi, batch, number: (0.3 * fit(w)).exp() * scale(phi),
            outer_loss=lambda w, phi, batch: (0.3 * fit(w)).exp(),
            optimizer=optimizer,
            num_steps=4,
        )
        phi = {"decay": torch.tensor(0.7, dtype=dtype), "others": torch.ones(2, dtype=dtype)}
        grad = hypergradient(name, **options)(problem, phi).grad
        assert all(leaf.dtype == dtype for leaf in tree_leaves(grad))
        return flat(grad).double()

    exact = found("rgu", torch.float64)
    every = {"num_directions": 3, "directions": "coordinate"}
    for name, options in (("rgu", {}), ("fgu", {}), ("rgu-mixflow", {}), ("fg2u", every)):
        single = found(name, torch.float32, **options)
        assert torch.allclose(single, exact, rtol=1e-3, atol=1e-6), name
    batched = found("fg2u", torch.float32, chunk=3, **every)
    assert torch.allclose(batched, exact, rtol=1e-3, atol=1e-6)
