"""Ranks of gloo on a CPU that train two micro-batches and count their tensors."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from reproductions.paro.held.experiment import WIDTHS
from reproductions.paro.models.storages import bytes_by_storage

PADDED = ("fsdp2", "fsdp2-hs")
"""Settings that the odd net has too."""
TRIES, MOMENT_S = 3, 0.004
Counted = dict[str, int]


def switches_of(group_size: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the mesh and what is set beside it, by the name that a setting has in `peers`.

    line: one axis. whole: the inner one of two axes is a single rank.
    """
    return {
        "fsdp2": ("line", {}),
        "fsdp2-late": ("line", {"wait": True}),
        "fsdp2-int": ("line", {"reshard": group_size}),
        "fsdp2-whole": ("line", {"reshard": False}),
        "fsdp2-zero-2": ("line", {"reshard": False, "stay": True}),
        "fsdp2-zero-1": ("line", {"reshard": False, "stay": True, "wait": True}),
        "fsdp2-ddp": ("whole", {"wait": True}),
        "fsdp2-hs": ("groups", {"wait_between": True}),
        "fsdp2-hs-every": ("groups", {}),
        "fsdp2-hs-late": ("groups", {"wait": True}),
        "fsdp2-hsz": ("groups", {"reshard": False, "wait_between": True}),
        "fsdp2-nii": ("groups", {"reshard": False, "stay": True, "wait_between": True}),
        "fsdp2-nni": ("groups", {"reshard": False, "stay": True, "wait": True}),
    }


def count_all(group_size: int) -> list[dict[str, Any]]:
    """Return what this rank holds, for every net and setting."""
    n, m = dist.get_world_size(), group_size
    names = ("between", "within")
    meshes = {
        "line": init_device_mesh("cpu", (n,)),
        "groups": init_device_mesh("cpu", (n // m, m), mesh_dim_names=names),
        "whole": init_device_mesh("cpu", (n, 1), mesh_dim_names=names),
    }
    found = []
    for kind, widths in WIDTHS.items():
        found.append({"net": kind, "setting": "ddp", **count_ddp(net_of(widths), widths[0])})
        for name, (mesh, switches) in switches_of(group_size).items():
            if kind == "even" or name in PADDED:
                counted = count_fsdp(net_of(widths), widths[0], meshes[mesh], **switches)
                found.append({"net": kind, "setting": name, **counted})
    return found


def net_of(widths: tuple[int, ...]) -> nn.Sequential:
    """Return linear layers, all biased."""
    return nn.Sequential(*(nn.Linear(*pair) for pair in pairwise(widths)))


def count_ddp(net: nn.Sequential, width: int) -> Counted:
    """Return what DDP holds. Its buckets and the gradients are the same bytes here."""
    wrapped = DistributedDataParallel(net, gradient_as_bucket_view=True)
    optimizer = torch.optim.Adam(wrapped.parameters())
    with wrapped.no_sync():
        found = count_micro_batch(wrapped, width)
    wrapped(torch.ones(2, width)).sum().backward()
    optimizer.step()
    return {**found, **count_at_rest(optimizer)}


def count_fsdp(
    net: nn.Sequential, width: int, mesh: Any, *, reshard: bool | int = True, stay: bool = False,
    wait: bool = False, wait_between: bool = False,
) -> Counted:  # fmt: skip
    """Return what FSDP2 holds, each layer a unit of its own.

    reshard: after the forward pass; a number: to so many parts. Until the step's last micro-batch
    stay: parameters are whole; wait: gradients are; wait_between: groups keep theirs apart.
    """
    for unit in (*net, net):
        fully_shard(unit, mesh=mesh, reshard_after_forward=reshard)
    optimizer = torch.optim.Adam(net.parameters())
    found: Counted = {}
    for is_last in (False, True):
        net.set_reshard_after_backward(is_last or not stay)  # type: ignore[operator]
        net.set_requires_gradient_sync(is_last or not wait)  # type: ignore[operator]
        net.set_requires_all_reduce(is_last or not wait_between)  # type: ignore[operator]
        if is_last:
            net(torch.ones(2, width)).sum().backward()
        else:
            found = count_micro_batch(net, width)
    optimizer.step()
    return {**found, **count_at_rest(optimizer)}


def count_micro_batch(net: nn.Module, width: int) -> Counted:
    """Train the first of two micro-batches; return what is held between its passes and after."""
    loss = net(torch.ones(2, width)).sum()
    between = Holding.now()
    loss.backward()
    del loss
    after = [Holding.now() for _ in range(TRIES)]
    return {
        "params_between_passes_bytes": between.params,
        "params_between_micro_batches_bytes": after[0].params,
        "grads_bytes": min(each.others for each in after),
    }


def count_at_rest(optimizer: torch.optim.Adam) -> Counted:
    """Return what is held after a step; Adam's count of steps, 4 bytes per tensor, is left out."""
    moments = [v for state in optimizer.state.values() for v in state.values() if v.ndim]
    with torch.no_grad():
        adam_bytes = sum(bytes_by_storage(moments).values())
    return {"params_bytes": Holding.now().params, "adam_bytes": adam_bytes}


@dataclass(frozen=True, slots=True)
class Holding:
    """Bytes of all tensors of numbers in this process; a mesh's ranks are whole ones."""

    params: int
    """Those of parameters: split, and whole where they are gathered."""
    others: int
    """Those of storages without a parameter: after a backward pass, gradients and nothing else."""

    @classmethod
    @torch.no_grad()
    def now(cls) -> Holding:
        """Return what is held now; what nothing refers to is let go first."""
        gc.collect()
        # A thread of gloo lets go of a buffer a moment after it is done with it.
        time.sleep(MOMENT_S)
        held = [each for each in gc.get_objects() if issubclass(type(each), Tensor)]
        grads = [each.grad for each in held if each.is_leaf and each.grad is not None]
        floats = [each for each in (*held, *grads) if each.is_floating_point()]
        params = bytes_by_storage(each for each in floats if isinstance(each, nn.Parameter))
        every = bytes_by_storage(floats)
        num_params = sum(params.values())
        return cls(params=num_params, others=sum(every.values()) - num_params)
