"""Where a client's local training starts from, whatever its algorithm did with the net before."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from reproductions.asymvalley.method.federated.algorithms import FedAvg, FedSign, Moon
from reproductions.asymvalley.method.federated.client import train_client
from tests.reproductions.asymvalley.method.federated.small import LOCAL, client, flat

HARDLY = replace(LOCAL, lr=1e-12)


@pytest.mark.parametrize("algorithm", [FedAvg(), FedSign(gamma=1.0), Moon(mu=1.0)])
def test_a_client_starts_from_the_state_that_it_received(algorithm: FedAvg) -> None:
    net, other = flat(9), flat(4)
    received = flat(3)
    state, before = received.state(), net.theta_N.clone()
    memory = other.state() if isinstance(algorithm, Moon) else {}
    result = train_client(
        net, state, client(20, 1), memory, algorithm=algorithm, settings=HARDLY, seed=7
    )
    assert torch.allclose(received.vector_of(result.state), received.theta_N, atol=1e-7)
    for elsewhere in (before, other.theta_N):
        assert not torch.allclose(elsewhere, received.theta_N, atol=1e-2)
