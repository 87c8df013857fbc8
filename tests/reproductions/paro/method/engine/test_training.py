"""Training by each strategy is training by one process on the whole batch."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from reproductions.kernels.adamw.optimizer import KernelAdamW
from reproductions.paro.method.engine import Paro, mesh_of_groups
from reproductions.paro.method.strategy import EFFECTIVE
from reproductions.paro.models.gloo_ranks import on_ranks
from tests.reproductions.paro.method.engine.nets import (
    Net,
    assert_near,
    freeze,
    loss_of,
    micro_batch,
)

NUM_RANKS, GROUP_SIZE, STEPS = 6, 3, 2
"""The number of groups differs from the number of ranks in each."""
ADAMW = partial(torch.optim.AdamW, lr=1e-2, weight_decay=0.1)
KERNEL_ADAMW = partial(KernelAdamW, lr=1e-2, weight_decay=0.1)
"""In plain torch on a CPU."""
MAX_NORM = 0.5
"""Below every norm of the runs: clipping is active."""
CASES = [
    *([str(strategy), 2, "two-layer", "frozen"] for strategy in EFFECTIVE),
    ["NNN", 3, "flat", "whole"],
    ["IIG", 3, "flat", "whole"],
    ["GGG", 1, "flat", "whole"],
    ["IGG", 2, "two-layer", "whole"],
    ["NNN", 3, "flat", "by KernelAdamW"],
]


def train_on_rank(cases: list[list[Any]]) -> list[dict[str, Any]]:
    mesh = mesh_of_groups(GROUP_SIZE)
    return [train(mesh, *case) for case in cases]


def net_of(how: str) -> Net:
    net = Net()
    if how == "frozen":
        freeze(net)
    return net


def train(mesh: Any, letters: str, micro_steps: int, collectives: Any, how: str) -> dict[str, Any]:
    net = net_of(how)
    engine = Paro(
        net, mesh, letters, optimizer=KERNEL_ADAMW if how == "by KernelAdamW" else ADAMW,
        max_norm=MAX_NORM, collectives=collectives,
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
    weights = {name: value.tolist() for name, value in engine.state_dict().items()}
    return {"losses": losses, "norms": norms, "weights": weights}


@cache
def alone(micro_steps: int, how: str) -> dict[str, Any]:
    """Return what one process does with the batches of all ranks."""
    net = net_of(how)
    trained = [param for param in net.parameters() if param.requires_grad]
    optimizer = ADAMW(trained)
    losses, norms = [], []
    for step in range(STEPS):
        batch = torch.cat([
            micro_batch(step, k, rank) for k in range(micro_steps) for rank in range(NUM_RANKS)
        ])  # fmt: skip
        loss = loss_of(net, batch)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norms.append(float(nn.utils.clip_grad_norm_(trained, MAX_NORM)))
        optimizer.step()
        losses.append(loss.item())
    weights = {name: value.detach() for name, value in net.state_dict().items()}
    return {"losses": losses, "norms": norms, "weights": weights}


def test_ranks_train_as_one_process_does() -> None:
    ranks = on_ranks(train_on_rank, NUM_RANKS, cases=CASES)
    for case, *found in zip(CASES, *ranks, strict=True):
        _, micro_steps, _, how = case
        wanted = alone(micro_steps, how)
        assert min(wanted["norms"]) > MAX_NORM
        losses = torch.tensor([rank["losses"] for rank in found], dtype=torch.float64)
        assert_near(losses.mean(dim=0), wanted["losses"], case)
        for rank in found:
            assert_near(rank["norms"], wanted["norms"], case)
            assert rank["weights"].keys() == wanted["weights"].keys()
            for name, value in wanted["weights"].items():
                assert_near(rank["weights"][name], value, (case, name))
