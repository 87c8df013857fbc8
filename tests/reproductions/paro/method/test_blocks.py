"""Blocks: the released code's example, and padding."""

from __future__ import annotations

import pytest

from reproductions.paro.method.blocks import blocks_of, padded_length
from reproductions.paro.method.cluster import unlinked


def test_contiguous_blocks_are_those_of_the_released_code_s_docstring() -> None:
    """Node 0 holds p0 p1 on GPU 0 and p2 p3 on GPU 1; states 0, 2 there, 1, 3 on node 1."""
    cluster = unlinked(4, 2)
    for group in (0, 1):
        assert blocks_of("I", group, 0, cluster) == (0, 1)
        assert blocks_of("I", group, 1, cluster) == (2, 3)
    assert [blocks_of("G", 0, local, cluster) for local in (0, 1)] == [(0,), (2,)]
    assert [blocks_of("G", 1, local, cluster) for local in (0, 1)] == [(1,), (3,)]


def test_strided_blocks_are_the_rank_and_every_mth() -> None:
    cluster = unlinked(6, 3)
    assert blocks_of("I", 1, 2, cluster, "strided") == (2, 5)
    assert blocks_of("G", 1, 2, cluster, "strided") == (5,)


@pytest.mark.parametrize(("length", "padded"), [(0, 0), (8, 8), (9, 12)])
def test_padding_is_the_least_that_fills_every_gpu(length: int, padded: int) -> None:
    assert padded_length(length, 4) == padded
