"""What must hold of the federated algorithms exactly, measured on a tiny trial."""

from __future__ import annotations

from functools import partial
from typing import get_args

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from reproductions.asymvalley.federated.experiment import Identities
from reproductions.asymvalley.federated.trial import (
    Federation,
    build_net,
    federation_of,
    round_settings,
    run_rounds,
)
from reproductions.asymvalley.method.federated.algorithms import (
    FedAvg,
    FedSign,
    Received,
    Reduction,
    Server,
)
from reproductions.asymvalley.method.federated.client import train_client
from reproductions.asymvalley.method.federated.flat import FlatNet

_STEP = 1e-6
_SIZES = (7, 13, 1)


def identity_rows(params: Identities, ctx: RunContext) -> list[Row]:
    """Return, per identity, the largest absolute difference between its two sides.

    `gamma_zero`: FedSign with gamma = 0 against FedAvg, all of the final global state.
    `workers`: FedSign with one worker against two. `uniform_average`: the server's state after two
    clients with unlike numbers of samples, against the sum of halves in float64.
    `penalty_gradient`: closed form against central differences, over all reductions.
    """
    federation = federation_of(params, ctx)
    run = partial(
        run_rounds,
        params,
        ctx,
        federation,
        settings=round_settings(params),
        held_out=federation.test,
    )
    plain, zero = run(FedAvg()), run(FedSign(gamma=0.0))
    one, two = (run(FedSign(gamma=1e-3), workers=workers) for workers in (1, 2))
    generator = torch.Generator().manual_seed(ctx.seed("penalty"))
    differences = {
        "gamma_zero": _difference(plain.server.state, zero.server.state),
        "workers": _difference(one.server.state, two.server.state),
        "uniform_average": _average_error(params, ctx, federation),
        "penalty_gradient": max(
            penalty_gradient_error(reduction, generator) for reduction in get_args(Reduction)
        ),
    }
    return [{"check": check, "max_abs_difference": value} for check, value in differences.items()]


def penalty_gradient_error(reduction: Reduction, generator: torch.Generator) -> float:
    """Return the largest difference of the penalty's closed-form gradient and differences of it.

    Closed form: -gamma w sign(theta_t) sigma(theta) (1 - sigma(theta)), with w the reduction's
    weight of a coordinate. Source: paper section 6.2.
    """
    count = sum(_SIZES)
    theta_N, global_N = (
        torch.randn(count, dtype=torch.float64, generator=generator) for _ in range(2)
    )
    global_N[0] = 0.0
    ones_N = torch.ones(count, dtype=torch.float64)
    weights_N = {
        "sum": ones_N,
        "mean": ones_N / count,
        "tensor_mean": torch.cat([piece / piece.sum() for piece in ones_N.split(_SIZES)])
        / len(_SIZES),
    }[reduction]
    sigma_N = torch.sigmoid(theta_N)
    closed_N = -weights_N * global_N.sign() * sigma_N * (1.0 - sigma_N)
    penalty = FedSign(gamma=1.0, reduction=reduction)
    received = Received(theta_N=global_N, sizes=_SIZES, memory={})
    measured = [
        penalty.weight_term(theta_N + move_N, received)
        - penalty.weight_term(theta_N - move_N, received)
        for move_N in _STEP * torch.eye(count, dtype=torch.float64)
    ]
    return float((torch.stack(measured) / (2.0 * _STEP) - closed_N).abs().max())


def _difference(left: dict[str, Tensor], right: dict[str, Tensor]) -> float:
    return max(float((left[name].double() - right[name].double()).abs().max()) for name in left)


def _average_error(params: Identities, ctx: RunContext, federation: Federation) -> float:
    """Return how far the server's state is from half of each of the two most unlike clients."""
    net = FlatNet(build_net(params, seed=ctx.seed("init"), device=ctx.device))
    algorithm, server = FedAvg(), Server(state=net.state())
    settings = round_settings(params)
    by_size = sorted(federation.clients, key=lambda client: len(client.labels_S))
    first, second = (
        train_client(
            net, server.state, data, {}, algorithm=algorithm, settings=settings.local, seed=0
        ).state
        for data in (by_size[0], by_size[-1])
    )
    after = algorithm.aggregate(server, [first, second], num_clients=2, learnable=net.names).state
    halves = {
        name: (0.5 * first[name].double() + 0.5 * second[name].double()).float()
        for name, value in after.items()
        if value.is_floating_point()
    }
    return _difference(halves, after)
