"""What takes a step on a rank: the engine by a strategy, or PyTorch's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from reproductions.paro.measured_steps.experiment import DDP, FSDP, HPZ, HSDP
from reproductions.paro.measured_steps.nets import Net
from reproductions.paro.method.engine import Paro, mesh_of_groups
from reproductions.paro.method.engine.wire import Wire

ADAM = partial(torch.optim.Adam, lr=1e-4)


class Trainer(Protocol):
    """Takes steps."""

    @property
    def wire(self) -> Wire | None:
        """What counts bytes as they are sent; none in PyTorch's own."""

    def step(self, micro_batches: list[Tensor]) -> None:
        """Take one step on this rank's micro-batches, each (batch, width)."""

    def states(self) -> Iterator[Tensor]:
        """Yield what this rank keeps between steps: parameters, gradients, Adam's moments."""


class Ours:
    """The engine."""

    def __init__(self, net: Net, mesh: DeviceMesh, letters: str) -> None:
        self.engine = Paro(net, mesh, letters, optimizer=ADAM)
        self.wire = self.engine.collectives.wire

    def step(self, micro_batches: list[Tensor]) -> None:
        """See `Trainer`."""
        for batch in micro_batches:
            self.engine.backward(self.engine.model(batch) / len(micro_batches))
        self.engine.step()

    def states(self) -> Iterator[Tensor]:
        """See `Trainer`."""
        for unit in self.engine.units:
            for flat in unit.flats:
                yield flat.own
                if flat.is_trained:
                    yield flat.grads
                    yield flat.master
        yield from moments(self.engine.optimizer)


class Ddp:
    """DistributedDataParallel, which is told which micro-batch is the last."""

    wire = None

    def __init__(self, net: Net) -> None:
        self.net = DistributedDataParallel(net, gradient_as_bucket_view=True)
        self.optimizer = ADAM([param for param in net.parameters() if param.requires_grad])

    def step(self, micro_batches: list[Tensor]) -> None:
        """See `Trainer`."""
        last = len(micro_batches) - 1
        for number, batch in enumerate(micro_batches):
            with nullcontext() if number == last else self.net.no_sync():
                (self.net(batch) / len(micro_batches)).backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)

    def states(self) -> Iterator[Tensor]:
        """See `Trainer`."""
        yield from params_and_grads(self.net)
        yield from moments(self.optimizer)


class Fsdp2:
    """fully_shard, each layer a unit. It sums gradients between groups in the last micro-batch."""

    wire = None

    def __init__(self, net: Net, mesh: DeviceMesh, reshard: bool | int) -> None:
        for unit in (*net.layers, net):
            fully_shard(unit, mesh=mesh, reshard_after_forward=reshard)
        self.net = net
        self.optimizer = ADAM([param for param in net.parameters() if param.requires_grad])

    def step(self, micro_batches: list[Tensor]) -> None:
        """See `Trainer`."""
        last = len(micro_batches) - 1
        for number, batch in enumerate(micro_batches):
            self.net.set_requires_all_reduce(number == last)  # type: ignore[operator]
            (self.net(batch) / len(micro_batches)).backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)

    def states(self) -> Iterator[Tensor]:
        """See `Trainer`."""
        yield from params_and_grads(self.net)
        yield from moments(self.optimizer)


def params_and_grads(net: torch.nn.Module) -> Iterator[Tensor]:
    """Yield a module's parameters, and their gradients where they have one."""
    for param in net.parameters():
        yield param
        if param.grad is not None:
            yield param.grad


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
        return Ddp(net)
    if name == FSDP:
        return Fsdp2(net, meshes.line, reshard=True)
    if name == HSDP:
        return Fsdp2(net, meshes.groups, reshard=True)
    if name == HPZ:
        return Fsdp2(net, meshes.line, reshard=meshes.groups.size(1))
    return Ours(net, meshes.groups, name)
