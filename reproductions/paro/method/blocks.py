"""Which blocks of a state a GPU holds. A state is padded and cut into n equal blocks (Table 2).

contiguous: as the released code's docstring has it for IGG and ING; a group's part is one slice.
strided: as its NIG and PaRO-CC have it. In both the block that a GPU holds under G is one of those
it holds under I, so that between I and G only GPUs of the same place in different groups talk.
"""

from __future__ import annotations

from typing import Literal

from harness.errors import SpecError
from reproductions.paro.method.cluster import Cluster
from reproductions.paro.method.strategy import Granularity

Numbering = Literal["contiguous", "strided"]


def blocks_of(
    granularity: Granularity,
    group: int,
    local: int,
    cluster: Cluster,
    numbering: Numbering = "contiguous",
) -> tuple[int, ...]:
    """Return the blocks of GPU `local` of a group, in order."""
    m, g = cluster.group_size, cluster.num_groups
    if not (0 <= group < g and 0 <= local < m):
        raise SpecError(f"no GPU ({group}, {local}) in {g} groups of {m}: count from 0")
    if granularity == "N":
        return tuple(range(cluster.num_gpus))
    of_group = (
        tuple(range(local * g, local * g + g))
        if numbering == "contiguous"
        else tuple(range(local, cluster.num_gpus, m))
    )
    return of_group if granularity == "I" else (of_group[group],)


def padded_length(length: int, num_gpus: int) -> int:
    """Return the least multiple of the number of GPUs that holds so many entries."""
    return -(-length // num_gpus) * num_gpus
