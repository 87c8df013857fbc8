"""Steps of our engine and of PyTorch's own, in turn, on ranks that a benchmark starts."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from reproductions.paro.method.engine import Paro, mesh_of_groups

SEQUENCES, WARM_UP = 16, 3
ADAMW = partial(torch.optim.AdamW, lr=1e-4)
Step = Callable[[], None]


class Stack(nn.Module):
    """Square layers, one after the other."""

    def __init__(self, width: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(num_layers))

    def forward(self, inputs: Tensor) -> Tensor:
        for layer in self.layers:
            inputs = torch.tanh(layer(inputs))
        return inputs


def ours(letters: str, width: int, num_layers: int) -> Step:
    """Return a step of our engine, in two groups."""
    mesh = mesh_of_groups(dist.get_world_size() // 2)
    engine = Paro(Stack(width, num_layers), mesh, letters, optimizer=ADAMW)

    def step() -> None:
        engine.backward(engine.model(torch.ones(SEQUENCES, width)).square().mean())
        engine.step()

    return step


def pytorchs(kind: str, width: int, num_layers: int) -> Step:
    """Return a step of DDP, or of FSDP2 with each layer a unit."""
    net: nn.Module = Stack(width, num_layers)
    if kind == "DDP":
        net = DistributedDataParallel(net, gradient_as_bucket_view=True)
    else:
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        for unit in (*net.get_submodule("layers").children(), net):
            fully_shard(unit, mesh=mesh)
    optimizer = ADAMW(net.parameters())

    def step() -> None:
        optimizer.zero_grad()
        net(torch.ones(SEQUENCES, width)).square().mean().backward()
        # Ours has the norm anyhow, for it looks for what is not finite.
        nn.utils.clip_grad_norm_(net.parameters(), 1e9)
        optimizer.step()

    return step


def step_times(
    letters: str, kind: str, width: int, num_layers: int, rounds: int
) -> list[list[float]]:
    """Return this rank's seconds of both steps, round by round."""
    pair = (ours(letters, width, num_layers), pytorchs(kind, width, num_layers))
    found = []
    for _ in range(WARM_UP + rounds):
        times = []
        for step in pair:
            dist.barrier()
            start_s = time.perf_counter()
            step()
            times.append(time.perf_counter() - start_s)
        found.append(times)
    return found[WARM_UP:]
