"""Ranks in groups: who takes part in a collective, and at which place."""

from __future__ import annotations

from dataclasses import dataclass

import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from harness.errors import SpecError
from reproductions.paro.method.cluster import unlinked
from reproductions.paro.method.schedule import Scope

AXES = ("inter", "intra")
"""Of a mesh: groups, and the ranks of a group."""


def mesh_of_groups(group_size: int, device_type: str = "cpu") -> DeviceMesh:
    """Return the mesh of all ranks in groups of m neighbours: rank r is rank r % m of group r // m.

    Raises SpecError if the ranks do not fill groups.
    """
    cluster = unlinked(dist.get_world_size(), group_size)
    shape = (cluster.num_groups, cluster.group_size)
    return init_device_mesh(device_type, shape, mesh_dim_names=AXES)


@dataclass(frozen=True, slots=True)
class Peers:
    """The ranks of one collective, in its order, and this rank's place among them."""

    group: dist.ProcessGroup
    ranks: tuple[int, ...]
    """Numbered over the world."""
    place: int

    def after(self, hops: int) -> int:
        """Return the rank so many places further in the ring."""
        return self.ranks[(self.place + hops) % len(self.ranks)]


class Groups:
    """The three families of ranks that a strategy needs: all, those of a group, and those that
    have the same place in theirs."""

    def __init__(self, mesh: DeviceMesh) -> None:
        """mesh: of two axes, "inter" and "intra", over all ranks in order. Raises SpecError."""
        if mesh.mesh_dim_names != AXES:
            raise SpecError(
                f"a mesh with axes {mesh.mesh_dim_names}: need two, {AXES}, as mesh_of_groups makes"
            )
        if mesh.mesh.flatten().tolist() != list(range(dist.get_world_size())):
            raise SpecError(
                "a mesh of some ranks, or out of order: need all ranks, group by group, as"
                " mesh_of_groups makes"
            )
        self.cluster = unlinked(mesh.size(), mesh.size(1))
        self.device_type: str = mesh.device_type
        self.rank = dist.get_rank()
        self._peers: dict[Scope, Peers] = {
            "world": self._peers_in(dist.group.WORLD),
            "intra": self._peers_in(mesh.get_group("intra")),
            "inter": self._peers_in(mesh.get_group("inter")),
        }

    def _peers_in(self, group: dist.ProcessGroup | None) -> Peers:
        assert group is not None
        ranks = tuple(dist.get_process_group_ranks(group))
        return Peers(group, ranks, ranks.index(self.rank))

    def peers(self, scope: Scope) -> Peers:
        """Return the ranks that take part with this one in a collective."""
        return self._peers[scope]

    def group_of(self, rank: int) -> int:
        """Return the number of a rank's group."""
        return rank // self.cluster.group_size
