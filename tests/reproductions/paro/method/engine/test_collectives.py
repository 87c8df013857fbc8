"""Collectives of ranks, against sums and slices of what all of them gave."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from types import SimpleNamespace
from typing import Any, get_args

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from harness.choices import noted
from reproductions.kernels import backend as backends
from reproductions.kernels.backend import without_kernels
from reproductions.paro.method.cluster import unlinked
from reproductions.paro.method.engine import transport
from reproductions.paro.method.engine.collectives import Collectives
from reproductions.paro.method.engine.groups import Groups, mesh_of_groups
from reproductions.paro.method.engine.layout import ALL, PART, Layout
from reproductions.paro.method.engine.transport import Library, as_one
from reproductions.paro.method.schedule import Collective, Kind, Scope
from reproductions.paro.models.gloo_ranks import on_ranks

NUM_RANKS, GROUP_SIZES = 6, (1, 2, 3, 6)
ENTRIES = (29, 5)
"""Of buffers that move together."""
COLLECTIVES = [Collective(kind=k, scope=s) for k, s in product(get_args(Kind), get_args(Scope))]


def given_by(rank: int, layout: Layout, dtype: torch.dtype) -> Tensor:
    """Return what a rank brings; integers are small, other numbers are no sums of powers of two."""
    source = torch.Generator().manual_seed(rank)
    if dtype.is_floating_point:
        return torch.rand(layout.padded, generator=source, dtype=dtype)
    return torch.randint(-100, 100, (layout.padded,), generator=source, dtype=dtype)


def wanted(found: Collective, groups: Groups, layout: Layout, dtype: torch.dtype) -> Tensor:
    """Return what a rank holds afterwards, from what every rank brings."""
    ranks, me = groups.peers(found.scope).ranks, groups.rank
    everywhere = {rank: given_by(rank, layout, dtype) for rank in ranks}
    outcome = torch.stack(list(everywhere.values())).sum(dim=0)
    if found.kind == "all_gather":
        for rank in ranks:
            span = layout.span(PART[found.scope], rank)
            outcome[span] = everywhere[rank][span]
    kept = PART if found.kind == "reduce_scatter" else ALL
    return outcome[layout.span(kept[found.scope], me)]


def run(found: Collective, with_: Collectives, dtype: torch.dtype) -> list[Tensor]:
    """Return what this rank holds of two buffers that move together."""
    rank, layouts = with_.groups.rank, layouts_of(with_.groups)
    buffers = [given_by(rank, each, dtype)[each.span(ALL[found.scope], rank)] for each in layouts]
    return with_.run(found, buffers, layouts, term="test")


def layouts_of(groups: Groups) -> list[Layout]:
    return [Layout(entries, groups.cluster) for entries in ENTRIES]


def compare_by_blocks(named: str) -> list[list[Any]]:
    """Compare what NCCL's ranks do where a kernel is chosen, on gloo."""
    for module in (transport, backends):
        setattr(module, "choose", lambda device: "triton")  # noqa: B010
    rows, dtype = [], getattr(torch, named)
    for m in GROUP_SIZES:
        collectives = Collectives(Groups(mesh_of_groups(m)), "flat")
        collectives.transport = collectives.of_all = Library(collectives.wire)
        for each in COLLECTIVES:
            with noted() as choices:
                apart = difference(each, collectives, dtype)
            rows.append([m, each.kind, each.scope, apart, choices])
    return rows


def difference(found: Collective, with_: Collectives, dtype: torch.dtype) -> float:
    """Return the largest difference of what this rank holds from what it should."""
    exact = [wanted(found, with_.groups, each, dtype) for each in layouts_of(with_.groups)]
    pairs = zip(run(found, with_, dtype), exact, strict=True)
    return max(float((a - b).abs().max()) for a, b in pairs)


def compare_on_rank() -> list[list[Any]]:
    rows = []
    for m in GROUP_SIZES:
        groups = Groups(mesh_of_groups(m))
        flat, two_layer, library = (Collectives(groups, w) for w in ("flat", "two-layer", "flat"))
        library.transport = library.of_all = Library(library.wire)
        for each, way in product(COLLECTIVES, (flat, two_layer, library)):
            rows.append([m, each.kind, each.scope, difference(each, way, torch.int64)])
    return rows


def test_collectives_do_what_a_single_process_would() -> None:
    for rows in on_ranks(compare_on_rank, NUM_RANKS):
        assert len(rows) == len(GROUP_SIZES) * len(COLLECTIVES) * 3
        assert [row for row in rows if row[-1] != 0.0] == []


@pytest.mark.parametrize(
    ("named", "done_by"),
    [
        ("int64", "plain (int64)"),
        pytest.param("float32", "triton", marks=pytest.mark.kernels),
    ],
)
def test_a_librarys_blocks_are_put_in_order_by_a_kernel(named: str, done_by: str) -> None:
    for rows in on_ranks(compare_by_blocks, NUM_RANKS, named=named):
        assert len(rows) == len(GROUP_SIZES) * len(COLLECTIVES)
        for m, kind, scope, apart, choices in rows:
            assert apart <= (0.0 if kind == "all_gather" or named == "int64" else 1e-6)
            moves = m in (2, 3) and scope == "world" and kind != "all_reduce"
            assert choices == ({"kernels/shard_pack": done_by} if moves else {})


def test_what_is_asked_for_holds_in_the_threads_of_a_backward_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Autograd's, on a GPU: no context of the thread that asked reaches them."""
    called: list[str] = []
    monkeypatch.setattr(backends, "find_spec", lambda name: True)
    for name in ("all_gather", "all_gather_into_tensor"):
        monkeypatch.setattr(transport.dist, name, lambda *a, name=name, **n: called.append(name))
    wire: Any = SimpleNamespace(
        groups=SimpleNamespace(device_type="cuda"), count=lambda num_bytes, to: None
    )
    peers: Any = SimpleNamespace(place=0, group=None, after=lambda hops: 1)
    with FakeTensorMode():
        by_place = torch.empty(4, device="cuda").split(1)
    parts = [[by_place[block]] for block in (0, 2, 1, 3)]
    with without_kernels():
        library = Library(wire)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(library.all_gather, parts, peers).result()
    assert called == ["all_gather"]


def test_neighbours_are_a_group() -> None:
    of_three = SimpleNamespace(cluster=unlinked(6, 3))
    assert [Groups.group_of(of_three, rank) for rank in range(6)] == [0, 0, 0, 1, 1, 1]  # type: ignore[arg-type]


def test_neighbours_are_one_buffer_and_others_are_not() -> None:
    whole = torch.arange(6.0)
    first, second, third = whole.split(2)
    joined = as_one([second, third])
    assert joined is not None and joined.data_ptr() == second.data_ptr()
    assert joined.tolist() == [2.0, 3.0, 4.0, 5.0]
    assert as_one([first, third]) is None, "a gap"
    assert as_one([third, second]) is None, "the wrong way round"
    assert as_one([first, torch.arange(2.0, 4.0)]) is None, "elsewhere"
