"""Known systems: what they are by the paper, by a rule, and what they hold and take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.peers import (
    OF_MEGATRON,
    SETTINGS,
    Setting,
    alike,
    asked,
    on_two_axes,
    own,
    predicted,
    setting_of,
)
from reproductions.paro.method.strategy import EFFECTIVE

CLUSTER = Cluster(num_gpus=32, group_size=8, inter_gbit_per_s=80.0, intra_gbit_per_s=2000.0)
WORK = Workload(num_params=7e9, trainable_share=1 / 16, accumulation=10)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ddp", "NNN"), ("zero-1", "NNG"), ("zero-2", "NGG"), ("zero-3", "GGG"), ("fsdp", "GGG"),
        ("mics", "III"), ("fsdp-hs", "III"), ("hpz", "GGG (I between passes)"),
        ("fsdp-hsz", "III (N between passes)"), ("fsdp2-int", "GGG (I between passes)"),
    ],
)  # fmt: skip
def test_systems_have_the_letters_that_the_paper_gives_them(name: str, told: str) -> None:
    assert str(setting_of(name).strategy) == told


def test_megatron_s_axes_give_all_but_parameters_split_finer_than_gradients() -> None:
    found = {each.nearest for each in OF_MEGATRON}
    assert {each.letters for each in EFFECTIVE} - found == {"INI", "ING", "GNG", "GIG"}
    # Between groups alone: no letter says so.
    assert on_two_axes(outer=1, inner=0) is None
    (hfsdp,) = (each for each in OF_MEGATRON if each.nearest == "IIG")
    assert "--data-parallel-sharding-strategy optim_grads_params --outer-dp-sharding" in (
        hfsdp.written
    )


def test_megatron_without_a_second_axis_is_told_of_none() -> None:
    """With one instance it has no outer axis, and fails where that is to split anything."""
    one_group = Cluster(num_gpus=8, group_size=8, inter_gbit_per_s=80.0, intra_gbit_per_s=2000.0)
    for each in OF_MEGATRON:
        text = each.written_for(one_group)
        assert "--outer" not in text and "-instances 1 " in text, each.name
    equal = {each.nearest for each in OF_MEGATRON if "-instances 1 " in each.written}
    assert equal == {"NNN", "NNG", "NGG", "GGG"}
    assert all("--outer" not in each.written for each in OF_MEGATRON if each.nearest in equal)
    assert "--outer-dp-sharding-strategy optim" in asked("hfsdp").written_for(CLUSTER)


def test_what_a_user_writes_names_the_cluster() -> None:
    assert "reshard_after_forward=8" in setting_of("fsdp2-int").written_for(CLUSTER)
    assert '("cuda", (4, 8), mesh' in setting_of("fsdp2-hs").written_for(CLUSTER)
    for each in SETTINGS:
        text = each.written_for(CLUSTER)
        assert "<" not in text, each.name
        assert ("init_device_mesh" in text) == ("mesh_dim_names" in text), "FSDP2 refuses others"


def seconds(setting: Setting, **more: float) -> float:
    (found,) = predicted((setting,), replace(WORK, **more), CLUSTER)  # type: ignore[arg-type]
    return found.time.comm


def test_hpz_keeps_a_second_part_and_gathers_backward_within_groups() -> None:
    hpz, zero3 = predicted((setting_of("hpz"), setting_of("zero-3")), WORK, CLUSTER)
    assert hpz.memory.total - zero3.memory.total == pytest.approx(14e9 / 8)
    saved = 10 * (31 / 32 * 14e9 / 10e9 - 7 / 8 * 14e9 / 250e9)
    assert zero3.time.comm - hpz.time.comm == pytest.approx(saved)


def test_fsdp_hsz_gathers_once_per_micro_batch_and_reduces_between_groups_each_time() -> None:
    gather, reduce = 7 / 8 * 14e9 / 250e9, 7 / 8 * 14e9 / 16 / 250e9
    between = 2 * 3 / 4 * 14e9 / 16 / 8 / 10e9
    assert seconds(setting_of("fsdp-hsz")) == pytest.approx(10 * (gather + reduce + between))
    assert seconds(setting_of("fsdp2-hsz")) == pytest.approx(10 * (gather + reduce) + between)


def test_parameters_that_stay_whole_are_gathered_once_the_frozen_too() -> None:
    z = 31 / 32 * 14e9 / 10e9
    (found,) = predicted((setting_of("fsdp2-zero-2"),), WORK, CLUSTER)
    assert found.time.comm == pytest.approx(10 * z / 16 + z)
    assert found.memory.params + found.memory.second_params == pytest.approx(14e9 * 33 / 32)
    assert seconds(setting_of("fsdp2-zero-2"), trainable_share=1.0) == pytest.approx(
        seconds(setting_of("zero-2"), trainable_share=1.0)
    )


def test_who_has_a_strategy_is_told_without_those_that_differ() -> None:
    names = {each.name for each in alike(own("III"))}
    assert names == {"mics", "fsdp2-hs", "megatron-iii"}
    assert alike(own("GIG")) == alike(own("ING")) == []


def test_names_are_asked_for_in_any_case() -> None:
    assert asked("iig") == own("IIG")
    assert asked("HPZ") == asked("ZeRO++") == setting_of("hpz")
    assert asked("HYBRID_SHARD") == setting_of("fsdp-hs")
    assert asked("HFSDP") == setting_of("megatron-iig")
