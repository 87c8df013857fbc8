"""Loss terms and server rules against formulas written out in float64."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.asymvalley.method.federated.algorithms import (
    FedDyn,
    FedPan,
    FedProx,
    FedSign,
    Moon,
    Received,
    Reduction,
    Server,
    uniform_average,
)
from tests.reproductions.asymvalley.method.federated.small import vector

SIZES = (6, 1, 4)
COUNT = sum(SIZES)
ROUNDING = 1e-13
REDUCTIONS = get_args(Reduction)


def received(**changes: object) -> Received:
    """Return global parameters with an exact zero among them."""
    theta_N = vector(COUNT, 1)
    theta_N[3] = 0.0
    return replace(Received(theta_N=theta_N, sizes=SIZES, memory={}), **changes)


def sigma(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def sgp(x: float) -> float:
    return 1.0 if x > 0 else 0.0


def weight_of(index: int, reduction: str) -> float:
    """Return what a coordinate counts under a reduction."""
    bounds = np.cumsum(SIZES)
    size = SIZES[int(np.searchsorted(bounds, index, side="right"))]
    return {"sum": 1.0, "mean": 1.0 / COUNT, "tensor_mean": 1.0 / (size * len(SIZES))}[reduction]


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_fedsign_penalty_is_the_papers_sum(reduction: Reduction) -> None:
    theta_N, given = vector(COUNT, 2), received()
    expected = -0.3 * math.fsum(
        weight_of(i, reduction) * (sgp(g) * sigma(2.5 * t) + sgp(-g) * sigma(-2.5 * t))
        for i, (t, g) in enumerate(zip(theta_N.tolist(), given.theta_N.tolist(), strict=True))
    )
    term = FedSign(gamma=0.3, reduction=reduction, beta=2.5).weight_term(theta_N, given)
    assert abs(float(term) - expected) < ROUNDING


def test_fedprox_term_is_half_mu_times_the_squared_distance() -> None:
    theta_N, given = vector(COUNT, 2), received()
    pairs = zip(theta_N.tolist(), given.theta_N.tolist(), strict=True)
    expected = 0.07 / 2 * math.fsum((t - g) ** 2 for t, g in pairs)
    assert abs(float(FedProx(mu=0.07).weight_term(theta_N, given)) - expected) < ROUNDING


def test_feddyn_term_is_linear_and_quadratic() -> None:
    theta_N, gradient_N = vector(COUNT, 2), vector(COUNT, 3)
    given = received(memory={"gradient": gradient_N})
    linear = math.fsum(g * t for g, t in zip(gradient_N.tolist(), theta_N.tolist(), strict=True))
    pairs = zip(theta_N.tolist(), given.theta_N.tolist(), strict=True)
    expected = -linear + 0.2 / 2 * math.fsum((t - g) ** 2 for t, g in pairs)
    assert abs(float(FedDyn(a=0.2).weight_term(theta_N, given)) - expected) < ROUNDING
    alone = FedDyn(a=0.2).weight_term(theta_N, received())
    assert abs(float(alone) - (expected + linear)) < ROUNDING


def cosine(a: Tensor, b: Tensor) -> float:
    u, v = a.numpy(), b.numpy()
    return float(u @ v / math.sqrt(float(u @ u) * float(v @ v)))


def test_moon_term_is_the_contrastive_loss_of_its_paper() -> None:
    features_BD = vector(3 * 4, 4).view(3, 4)
    references_GSD = vector(2 * 9 * 4, 5).view(2, 9, 4)
    rows_B = torch.tensor([7, 0, 4])
    losses = []
    for z, row in zip(features_BD, rows_B.tolist(), strict=True):
        near, far = (math.exp(cosine(z, references_GSD[g, row]) / 0.5) for g in (0, 1))
        losses.append(-math.log(near / (near + far)))
    given = received(features_GSD=references_GSD)
    term = Moon(mu=0.7).batch_term(features_BD, rows_B, given)
    assert term is not None
    assert abs(float(term) - 0.7 * math.fsum(losses) / 3) < 1e-9


def test_moon_has_no_term_before_a_previous_model() -> None:
    assert Moon(mu=1.0).batch_term(vector(4, 0).view(2, 2), torch.arange(2), received()) is None


# --- servers ---


def test_average_is_uniform_with_buffers_and_integers_stay_whole() -> None:
    states = [
        {"w": torch.tensor([1.0, 2.0]), "running_mean": torch.tensor([0.0]), "n": torch.tensor(7)},
        {"w": torch.tensor([2.0, 4.0]), "running_mean": torch.tensor([3.0]), "n": torch.tensor(9)},
        {"w": torch.tensor([6.0, 0.0]), "running_mean": torch.tensor([6.0]), "n": torch.tensor(2)},
    ]
    average = uniform_average(states)
    assert average["w"].tolist() == [3.0, 2.0]
    assert average["running_mean"].tolist() == [3.0]
    assert average["n"].dtype == torch.int64
    assert int(average["n"]) == 9


def test_feddyn_server_by_hand_over_two_rounds() -> None:
    """K = 4, a = 0.5; clients 1 and 5 from 2, then 3 alone: worked with pencil."""

    def state(w: float, mean: float) -> dict[str, Tensor]:
        tensors = {"w": torch.tensor([w]), "mean": torch.tensor([mean])}
        return {name: value.double() for name, value in tensors.items()}

    algorithm = FedDyn(a=0.5)
    server = algorithm.aggregate(
        Server(state=state(2.0, 0.0)),
        [state(1.0, 1.0), state(5.0, 3.0)],
        num_clients=4,
        learnable=("w",),
    )
    # h = -0.5 / 4 * ((1 - 2) + (5 - 2)) = -0.25; w = 3 + 0.25 / 0.5 = 3.5; the buffer: 2.
    assert server.memory["w"].item() == -0.25
    assert server.state["w"].item() == 3.5
    assert server.state["mean"].item() == 2.0
    server = algorithm.aggregate(server, [state(3.0, 0.0)], num_clients=4, learnable=("w",))
    # h = -0.25 - 0.5 / 4 * (3 - 3.5) = -0.1875; w = 3 + 0.1875 / 0.5 = 3.375.
    assert server.memory["w"].item() == -0.1875
    assert server.state["w"].item() == 3.375


# --- bad input ---


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FedSign(gamma=-1e-3), "gamma=-0.001: a penalty's coefficient must be"),
        (lambda: FedSign(gamma=0.1, reduction="total"), "reduction='total'"),
        (lambda: FedSign(gamma=0.1, beta=0.0), "beta=0.0"),
        (lambda: Moon(mu=1.0, tau=0.0), "tau=0.0"),
        (lambda: FedDyn(a=0.0), "a=0.0: FedDyn divides by"),
        (lambda: FedPan(encoding="often"), "cycles:add|mul:amplitude"),
    ],
)
def test_senseless_coefficients_are_refused(make, words: str) -> None:
    with pytest.raises(SpecError, match=words.replace("|", r"\|")):
        make()
