"""Plans: their order, bytes and reasons, against numbers worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.errors import SpecError
from reproductions.paro.method.cluster import Cluster, Workload, unlinked
from reproductions.paro.method.guideline import predict, ranked
from reproductions.paro.method.peers import SETTINGS, USUAL, own, setting_of
from reproductions.paro.method.planning import Plan, make_plan
from reproductions.paro.method.reasons import reasons, seconds, totals, work
from reproductions.paro.method.step_time import TimeModel
from reproductions.paro.method.strategy import EFFECTIVE

CLUSTER = Cluster(num_gpus=32, group_size=8, inter_gbit_per_s=80.0, intra_gbit_per_s=2000.0)
SHARED = replace(CLUSTER, nic="shared")
WORK = Workload(num_params=7e9, accumulation=10)
LETTERS = [each.letters for each in EFFECTIVE]
MODELS = (
    TimeModel(),
    TimeModel(world="hier", assembly="sum"),
    TimeModel(world="scaled", cc_factor=0.7, assembly="max"),
)


def said(plan: Plan) -> str:
    return "\n".join(reasons(plan))


def test_what_fits_comes_first_by_time_then_memory() -> None:
    plan = make_plan(WORK, CLUSTER, memory_bytes=20e9)
    names = [each.name for each in plan.entries]
    assert names[:2] == ["IIG", "III"]
    alone = ranked(predict(WORK, CLUSTER, memory_bytes=20e9))
    assert [each.found for each in plan.fitting if each.name in LETTERS] == alone
    assert [each.found.fits for each in plan.entries] == sorted(
        (each.found.fits for each in plan.entries), reverse=True
    )
    assert len(names) == 16 and {"hpz", "fsdp-hsz"} < set(names)
    assert [row["rank"] for row in plan.rows()][len(plan.fitting) :] == [None] * names[::-1].index(
        plan.fitting[-1].name
    )


def test_the_reason_shows_bytes_over_bandwidth() -> None:
    text = said(make_plan(WORK, CLUSTER, memory_bytes=20e9))
    for line in (
        "IIG takes least time of the 10 that fit: T = 1.73 s",
        "6.12 GB per GPU (1.75 GB parameters, 1.75 GB gradients, 2.62 GB optimizer states)",
        "--num-distributed-optimizer-instances 4",
        "gathering parameters: 20 x 7/8 x 14 GB / 250 GB/s within groups = 0.98 s",
        "reducing gradients: 10 x 7/8 x 14 GB / 250 GB/s within groups = 0.49 s",
        "bringing gradients to the optimizer: 3/4 x 14 GB / 8 / 10 GB/s between groups = 0.131 s",
        "gathering new parameters: 3/4 x 14 GB / 8 / 10 GB/s between groups = 0.131 s",
        "which the formula does not tell apart: III; the first holds 6.12 GB, the next 14 GB",
        "The next slower, NIG, takes 1.98 s, the largest part for gathering new parameters:"
        " 31/32 x 14 GB / 10 GB/s over all GPUs = 1.36 s",
        "NNI would take 0.36 s, but holds 38.5 GB where there are 20 GB; NII and INI would be"
        " faster too and do not fit either.",
    ):
        assert line in text, line


def test_a_shared_link_and_paro_cc_are_in_the_reason() -> None:
    text = said(make_plan(WORK, SHARED, TimeModel(world="hier"), candidates=[own("GGG")]))
    hop, row = 8 * 14e9 / 32 / 10e9, 7 * 14e9 / 32 / 250e9
    each = f"20 x (max(3 x {hop:.4g} s, {row:.4g} s) + 3 x {row:.4g} s) over all GPUs"
    total = 20 * (max(3 * hop, row) + 3 * row)
    assert f"gathering parameters: {each} = {total:.3g} s" in text
    shared = said(make_plan(WORK, SHARED, candidates=[own("III")]))
    assert "2 x 8 on one link x 3/4 x 14 GB / 8 / 10 GB/s between groups = 2.1 s" in shared


@pytest.mark.parametrize("model", MODELS)
def test_every_term_that_takes_time_has_its_line(model: TimeModel) -> None:
    plan = make_plan(
        Workload(num_params=6_738_415_616, trainable_share=0.231, accumulation=3),
        SHARED, model, candidates=[*(own(each) for each in ("NNN", "NIG", "GIG")), *SETTINGS],
    )  # fmt: skip
    for each in plan.entries:
        found, lines = totals(plan, each), work(plan, each)
        assert math.fsum(found.values()) == pytest.approx(each.found.time.comm), each.name
        assert lines.keys() == {term for term, total in found.items() if total}
        for term, line in lines.items():
            assert line.endswith(f" = {seconds(found[term])}"), (each.name, line)


def test_what_nobody_has_is_said_and_who_nearly_has_it() -> None:
    only = make_plan(WORK, CLUSTER, candidates=[own("ING")])
    assert "No system that we know of has it" in said(only)
    assert "alone fits" in said(only)
    two = make_plan(WORK, CLUSTER, candidates=[own("ING"), own("GIG"), own("GGG")])
    assert two.entries[0].name == "ING"
    assert "has it; GGG is the next that one has (ZeRO-3," in said(two)
    assert "FSDP2 has it: fully_shard(unit" in said(
        make_plan(WORK, CLUSTER, candidates=[setting_of("fsdp2-late")])
    )


def test_hybrid_shard_is_iii_where_every_micro_batch_is_the_last() -> None:
    for s, exact in ((1, True), (2, False)):
        one = replace(WORK, accumulation=s)
        (row,) = make_plan(one, CLUSTER, candidates=[own("III")]).rows()
        assert ("FSDP HYBRID_SHARD" in row["systems"]) == exact
        assert ("FSDP HYBRID_SHARD" in row["nearly"]) == (not exact)
        assert row["systems"].startswith("MiCS, FSDP2 HSDP, Megatron")


def test_strategies_have_their_usual_names() -> None:
    entries = {each.name: each for each in make_plan(WORK, CLUSTER).entries}
    assert entries["III"].title == "III (MiCS, HSDP)" and entries["NNN"].title == "NNN (DDP)"
    assert entries["GGG"].title == "GGG (ZeRO-3)" and entries["hpz"].title == "hpZ"
    assert entries["ING"].title == "ING"
    # None is called by a name that no system has for it.
    for letters, usual in USUAL.items():
        had = f"{entries[letters].systems}, HFSDP" if letters == "IIG" else entries[letters].systems
        assert all(name in had for name in usual.split(", ")), letters


@pytest.mark.parametrize(("size", "inter"), [(1e18, 1e-15), (1.0, 1e40)])
def test_what_there_cannot_be_is_told(size: float, inter: float) -> None:
    cluster = replace(CLUSTER, inter_gbit_per_s=inter)
    with pytest.raises(SpecError, match="is no number that there can be"):
        make_plan(replace(WORK, num_params=size), cluster)


def test_where_nothing_fits_the_least_is_named() -> None:
    (text,) = reasons(make_plan(WORK, CLUSTER, memory_bytes=1e9))
    assert "None of the 16 fits: the least, GGG, holds 3.5 GB per GPU of 1 GB" in text


def test_computation_hides_what_is_shorter() -> None:
    hidden = make_plan(WORK, CLUSTER, TimeModel(assembly="max"), compute_s=2.0)
    assert hidden.entries[0].name == "IIG"
    assert "Computation takes 2 s, communication 1.73 s: all of it hides, as that of III" in said(
        hidden
    )
    summed = make_plan(WORK, CLUSTER, TimeModel(assembly="sum"), compute_s=2.0)
    assert "T is their sum" in said(summed)
    assert "Computation" not in said(make_plan(WORK, CLUSTER, compute_s=0.0))


def test_one_gpu_sends_nothing() -> None:
    plan = make_plan(WORK, unlinked(1, 1))
    assert {each.total for each in plan.entries} == {0.0}
    assert all(row["steps_per_s"] is None for row in plan.rows())
    assert "T = 0 s" in said(plan)
