"""Where a rank's part of a state lies: one slice at every granularity (Table 2, contiguous)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from reproductions.paro.method.blocks import blocks_of, padded_length
from reproductions.paro.method.cluster import Cluster
from reproductions.paro.method.schedule import Scope
from reproductions.paro.method.strategy import Granularity

PART: dict[Scope, Granularity] = {"world": "G", "intra": "I", "inter": "G"}
"""What a rank of a collective holds before a gather, and after a reduce-scatter."""
ALL: dict[Scope, Granularity] = {"world": "N", "intra": "N", "inter": "I"}
"""What it holds after the one, and before the other."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A state of so many entries, padded to a multiple of n and cut into n blocks."""

    num_entries: int
    cluster: Cluster

    @property
    def padded(self) -> int:
        """Entries with padding."""
        return padded_length(self.num_entries, self.cluster.num_gpus)

    def span(self, granularity: Granularity, rank: int) -> slice:
        """Return the entries that a rank holds.

        >>> from reproductions.paro.method.cluster import unlinked
        >>> layout = Layout(7, unlinked(4, 2))
        >>> [layout.span("G", rank) for rank in (0, 1)]
        [slice(0, 2, None), slice(4, 6, None)]
        """
        block = self.padded // self.cluster.num_gpus
        blocks = blocks_of(granularity, *divmod(rank, self.cluster.group_size), self.cluster)
        assert blocks == tuple(range(blocks[0], blocks[-1] + 1)), "the numbering is contiguous"
        return slice(blocks[0] * block, (blocks[-1] + 1) * block)

    def inner(self, outer: Granularity, inner: Granularity, rank: int) -> slice:
        """Return where a finer part lies within a coarser one that the same rank holds."""
        start = self.span(outer, rank).start
        span = self.span(inner, rank)
        return slice(span.start - start, span.stop - start)

    def parts(self, buffer: Tensor, scope: Scope, ranks: tuple[int, ...]) -> list[Tensor]:
        """Return each rank's part of what a collective gathers or reduces, as views.

        buffer: flat, what a rank holds after a gather of this scope.
        ranks: those of the collective.
        """
        start = self.span(ALL[scope], ranks[0]).start
        spans = [self.span(PART[scope], rank) for rank in ranks]
        return [buffer[span.start - start : span.stop - start] for span in spans]
