"""Blocks: the released code's example, and what holds on every cluster."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import SpecError
from reproductions.paro.method.blocks import Numbering, blocks_of, padded_length
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
    assert blocks_of("N", 1, 2, cluster, "strided") == (0, 1, 2, 3, 4, 5)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(["contiguous", "strided"]))
def test_blocks_part_the_whole_and_lie_within_each_other(
    m: int, g: int, numbering: Numbering
) -> None:
    cluster = unlinked(m * g, m)
    everything = set(range(m * g))
    own = [blocks_of("G", i, j, cluster, numbering)[0] for i in range(g) for j in range(m)]
    assert sorted(own) == sorted(everything)
    for i in range(g):
        sets = [blocks_of("I", i, j, cluster, numbering) for j in range(m)]
        assert sorted(number for each in sets for number in each) == sorted(everything)
        assert sets == [blocks_of("I", 0, j, cluster, numbering) for j in range(m)]
        assert [each[i] for each in sets] == own[i * m : i * m + m]


@pytest.mark.parametrize("place", [(2, 0), (0, 2), (-1, 0)])
def test_no_gpu_there(place: tuple[int, int]) -> None:
    with pytest.raises(SpecError, match="in 2 groups of 2: count from 0"):
        blocks_of("I", *place, unlinked(4, 2))


@given(st.integers(0, 1000), st.integers(1, 64))
def test_padding_is_the_least_that_fills_every_gpu(length: int, num_gpus: int) -> None:
    found = padded_length(length, num_gpus)
    assert found % num_gpus == 0
    assert 0 <= found - length < num_gpus
