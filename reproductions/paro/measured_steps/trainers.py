"""What is trained on a rank, and what takes its steps: the engine, or PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.nn.parallel import DistributedDataParallel

from reproductions.paro.measured_steps.experiment import DDP, FSDP, HPZ, HSDP, Share
from reproductions.paro.method.engine import Paro, mesh_of_groups
from reproductions.paro.method.engine.wire import Wire
from reproductions.paro.models.ways import Way, apart_between_groups

ADAM = partial(torch.optim.Adam, lr=1e-4)


class Layer(nn.Module):
    """x + relu(x W), its matrix frozen beside a pair of rank one where adapters train."""

    def __init__(self, width: int, *, is_adapted: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width, bias=False)
        self.pair: nn.Sequential | None = None
        if is_adapted:
            self.linear.requires_grad_(False)
            self.pair = nn.Sequential(
                nn.Linear(width, 1, bias=False), nn.Linear(1, width, bias=False)
            )

    def forward(self, x: Tensor) -> Tensor:
        """x: (batch, width)."""
        out = self.linear(x)
        if self.pair is not None:
            out = out + self.pair(x)
        return x + torch.relu(out)


class Net(nn.Module):
    """Equal layers, so that a sixteenth of it is one of them.

    What trains is all of it, the first layer, or the adapters.
    """

    def __init__(self, width: int, num_layers: int, share: Share) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            Layer(width, is_adapted=share == "LoRA") for _ in range(num_layers)
        )
        if share == "1/16":
            # The first one: a gradient then goes through all layers, as it does with adapters.
            self.layers[1:].requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the loss, a number. x: (batch, width)."""
        for layer in self.layers:
            x = layer(x)
        return x.square().mean()

    def num_params(self) -> tuple[int, int]:
        """Return how many parameters there are, and how many train."""
        sizes = [(param.numel(), param.requires_grad) for param in self.parameters()]
        return sum(size for size, _ in sizes), sum(size for size, trained in sizes if trained)


@dataclass(frozen=True, slots=True)
class Trainer:
    """Takes steps."""

    way: Way
    states: Callable[[], Iterator[Tensor]]
    """Yields what this rank keeps between steps: parameters, gradients, Adam's moments."""
    wire: Wire | None = None
    """What counts bytes as they are sent; none in PyTorch's own."""

    def step(self, micro_batches: list[Tensor]) -> None:
        """Take one step on this rank's micro-batches, each (batch, width)."""
        self.way.passes(micro_batches, self.way.net)
        self.way.step()


def by_engine(net: Net, mesh: DeviceMesh, letters: str) -> Trainer:
    """Train by one of the 14 strategies."""
    engine = Paro(net, mesh, letters, optimizer=ADAM)

    def states() -> Iterator[Tensor]:
        for unit in engine.units:
            for flat in unit.flats:
                yield flat.own
                if flat.is_trained:
                    yield flat.grads
                    yield flat.master
        yield from moments(engine.optimizer)

    return Trainer(Way(net, engine.step), states, engine.collectives.wire)


def by_pytorch(net: Net, wrapped: nn.Module) -> Trainer:
    """Train by DDP or FSDP2, which are told which micro-batch is the last."""
    optimizer = ADAM([param for param in net.parameters() if param.requires_grad])

    def step() -> float:
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        return 0.0

    def states() -> Iterator[Tensor]:
        for param in net.parameters():
            yield param
            if param.grad is not None:
                yield param.grad
        yield from moments(optimizer)

    if isinstance(wrapped, DistributedDataParallel):
        return Trainer(Way(wrapped, step, wrapped.no_sync), states)
    assert isinstance(wrapped, FSDPModule)
    return Trainer(Way(net, step, partial(apart_between_groups, wrapped)), states)


def by_layers(net: Net, mesh: DeviceMesh, *, reshard: bool | int = True) -> Net:
    """Split a net by fully_shard, each layer a unit; reshard: after the forward pass."""
    for unit in (*net.layers, net):
        fully_shard(unit, mesh=mesh, reshard_after_forward=reshard)
    return net


def moments(optimizer: torch.optim.Optimizer) -> Iterator[Tensor]:
    """Yield Adam's moments; its counts of steps, single numbers, are left out."""
    for state in optimizer.state.values():
        yield from (each for each in state.values() if each.ndim)


@dataclass(frozen=True, slots=True)
class Meshes:
    """All ranks in one line, and in groups."""

    line: DeviceMesh
    groups: DeviceMesh

    @classmethod
    def of(cls, group_size: int) -> Meshes:
        """Return both, made once: each has connections of its own."""
        groups = mesh_of_groups(group_size)
        return cls(init_device_mesh(groups.device_type, (groups.size(),)), groups)


def trainer_of(name: str, net: Net, meshes: Meshes) -> Trainer:
    """Return what takes steps by a strategy's letters, or by a baseline's name."""
    if name == DDP:
        return by_pytorch(net, DistributedDataParallel(net, gradient_as_bucket_view=True))
    if name == FSDP:
        return by_pytorch(net, by_layers(net, meshes.line))
    if name == HSDP:
        return by_pytorch(net, by_layers(net, meshes.groups))
    if name == HPZ:
        return by_pytorch(net, by_layers(net, meshes.line, reshard=meshes.groups.size(1)))
    return by_engine(net, meshes.groups, name)
