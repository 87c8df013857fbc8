"""Training by each strategy is training by one process on the whole batch."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn

from reproductions.paro.method.engine import Paro, mesh_of_groups
from reproductions.paro.method.strategy import EFFECTIVE
from tests.reproductions.paro.method.engine.nets import Net, loss_of, micro_batch
from tests.reproductions.paro.method.engine.ranks import on_ranks

STEPS = 3
ADAMW = partial(torch.optim.AdamW, lr=1e-2, weight_decay=0.1)
MAX_NORM = 0.5
"""Below every norm of the runs: clipping is active."""
TOLERANCE = 1e-12
"""In float64, where losses and weights are about 1: sums of some hundred terms, in another order,
differ by 1e-14, and Adam's eps of 1e-8 keeps gradients that are rounding alone from a step of
their own."""
CASES = [
    {"letters": str(strategy), "micro_steps": s, "collectives": collectives, "frozen": frozen}
    for strategy in EFFECTIVE
    for s, collectives, frozen in ((1, "flat", False), (3, "flat", False), (2, "two-layer", True))
]
Case = dict[str, Any]


def freeze(net: nn.Module) -> None:
    """Train the layers of blocks alone: embeddings, attention and norms are frozen."""
    for name, param in net.named_parameters():
        param.requires_grad = "up" in name or "down" in name


def train_on_rank(group_size: int, cases: list[Case]) -> list[dict[str, Any]]:
    mesh = mesh_of_groups(group_size)
    return [train(mesh, **case) for case in cases]


def train(
    mesh: Any, *, letters: str, micro_steps: int, collectives: Any, frozen: bool
) -> dict[str, Any]:
    net = Net()
    if frozen:
        freeze(net)
    engine = Paro(
        net, mesh, letters, optimizer=ADAMW, max_norm=MAX_NORM, collectives=collectives
    )  # fmt: skip
    losses, norms = [], []
    for step in range(STEPS):
        total = 0.0
        for k in range(micro_steps):
            loss = loss_of(net, micro_batch(step, k, dist.get_rank())) / micro_steps
            engine.backward(loss)
            total += loss.item()
        norms.append(engine.step())
        losses.append(total)
    return {"losses": losses, "norms": norms, "weights": listed(engine.state_dict())}


def listed(state: dict[str, torch.Tensor]) -> dict[str, list[Any]]:
    return {name: value.tolist() for name, value in state.items()}


@cache
def alone(num_ranks: int, micro_steps: int, frozen: bool) -> dict[str, Any]:
    """Return what one process does with the batches of all ranks."""
    net = Net()
    if frozen:
        freeze(net)
    trained = [param for param in net.parameters() if param.requires_grad]
    optimizer = ADAMW(trained)
    losses, norms = [], []
    for step in range(STEPS):
        batch = torch.cat([
            micro_batch(step, k, rank) for k in range(micro_steps) for rank in range(num_ranks)
        ])  # fmt: skip
        loss = loss_of(net, batch)
        optimizer.zero_grad()
        loss.backward()
        norms.append(float(nn.utils.clip_grad_norm_(trained, MAX_NORM)))
        optimizer.step()
        losses.append(loss.item())
    weights = {name: param.detach() for name, param in net.named_parameters()}
    return {"losses": losses, "norms": norms, "weights": weights}


@cache
def ranks_of(num_ranks: int, group_size: int) -> list[list[dict[str, Any]]]:
    cases = CASES if num_ranks == 4 else [c for c in CASES if c["letters"] in ("IIG", "NGG")]
    found: list[list[dict[str, Any]]] = on_ranks(
        train_on_rank, num_ranks, group_size=group_size, cases=cases
    )
    return found


def check(num_ranks: int, group_size: int, index: int, case: Case) -> None:
    found = [rank[index] for rank in ranks_of(num_ranks, group_size)]
    wanted = alone(num_ranks, case["micro_steps"], case["frozen"])
    assert min(wanted["norms"]) > MAX_NORM
    losses = torch.tensor([each["losses"] for each in found], dtype=torch.float64).mean(dim=0)
    close(losses, wanted["losses"])
    for each in found:
        close(each["norms"], wanted["norms"])
        assert each["weights"].keys() == wanted["weights"].keys()
        for name, weight in wanted["weights"].items():
            close(each["weights"][name], weight)


def close(found: Any, wanted: Any) -> None:
    found, wanted = (torch.as_tensor(each, dtype=torch.float64) for each in (found, wanted))
    torch.testing.assert_close(found, wanted, rtol=0.0, atol=TOLERANCE)


def name_of(case: Case) -> str:
    frozen = "-frozen" if case["frozen"] else ""
    return f"{case['letters']}-{case['micro_steps']}-{case['collectives']}{frozen}"


@pytest.mark.parametrize("index", range(len(CASES)), ids=map(name_of, CASES))
def test_ranks_train_as_one_process_does(index: int) -> None:
    check(4, 2, index, CASES[index])
