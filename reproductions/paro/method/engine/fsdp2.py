"""PaRO-CC's two layers under PyTorch's own fully_shard, by its hooks for collectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule

# Not exported where fully_shard is, but what its setters ask for.
from torch.distributed.fsdp._fully_shard._fsdp_api import AllGather, ReduceScatter

from harness.errors import SpecError
from reproductions.paro.method.engine.collectives import Collectives
from reproductions.paro.method.engine.groups import Groups
from reproductions.paro.method.engine.wire import Part
from reproductions.paro.method.schedule import Collective

TERM = "fsdp2"


def use_two_layers(model: nn.Module, mesh: DeviceMesh) -> Collectives:
    """Let a model that fully_shard split over all ranks gather and reduce in two layers.

        fully_shard(model, mesh=init_device_mesh("cuda", (n,)))
        use_two_layers(model, mesh_of_groups(8, "cuda"))

    mesh: as `mesh_of_groups` makes. Returns what counts the bytes. Raises SpecError for a model
    that is not split.
    """
    split = [module for module in model.modules() if isinstance(module, FSDPModule)]
    if not split:
        raise SpecError("a model that nothing split: call fully_shard on it before")
    collectives = Collectives(Groups(mesh), "two-layer")
    for module in split:
        module.set_custom_all_gather(TwoLayerAllGather(collectives))
        module.set_custom_reduce_scatter(TwoLayerReduceScatter(collectives))
    return collectives


class _InTwoLayers:
    """What both have: buffers of their own for each call, and parts in the order of ranks."""

    def __init__(self, collectives: Collectives) -> None:
        self.collectives = collectives

    def allocate(self, size: Sequence[Any], *, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Return a buffer to gather into, or to reduce from."""
        return torch.empty(*size, dtype=dtype, device=device)

    def parts(self, whole: Tensor, group: dist.ProcessGroup) -> list[Part]:
        """Return each rank's part. Raises SpecError unless the group is all ranks, in order."""
        ranks = self.collectives.groups.peers("world").ranks
        if tuple(dist.get_process_group_ranks(group)) != ranks:
            raise SpecError(
                "two layers under a mesh of some ranks: let fully_shard split over all, on a mesh"
                " of one axis"
            )
        return [[part] for part in whole.flatten().chunk(len(ranks))]


class TwoLayerAllGather(_InTwoLayers, AllGather):
    """For `FSDPModule.set_custom_all_gather`."""

    def __call__(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        group: dist.ProcessGroup,
        async_op: bool = False,
    ) -> None:
        """Gather; it is done when this returns, also if `async_op`."""
        parts = self.parts(output_tensor, group)
        (mine,) = parts[self.collectives.groups.rank]
        if mine.data_ptr() != input_tensor.data_ptr():
            mine.copy_(input_tensor.flatten())
        gather = Collective(kind="all_gather", scope="world")
        self.collectives.run_on(gather, parts, term=TERM)


class TwoLayerReduceScatter(_InTwoLayers, ReduceScatter):
    """For `FSDPModule.set_custom_reduce_scatter`."""

    def __call__(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        group: dist.ProcessGroup,
        op: Any,
        async_op: bool = False,
    ) -> None:
        """Reduce; it is done when this returns. The input is spent."""
        if op not in (dist.ReduceOp.SUM, dist.ReduceOp.AVG):
            raise SpecError(
                f"a reduction by {op}: call set_force_sum_reduction_for_comms(True) on the model"
            )
        parts = self.parts(input_tensor, group)
        reduce = Collective(kind="reduce_scatter", scope="world")
        self.collectives.run_on(reduce, parts, term=TERM)
        (mine,) = parts[self.collectives.groups.rank]
        if op == dist.ReduceOp.AVG:
            mine.div_(len(parts))
        output_tensor.copy_(mine.view_as(output_tensor))
