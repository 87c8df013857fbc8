"""Time of a step: by hand, at the paper's inputs, and put together in each way."""

from __future__ import annotations

import pytest

from harness.errors import SpecError
from reproductions.paro.method.cluster import Workload
from reproductions.paro.method.guideline import pareto_front, predict, ranked
from reproductions.paro.method.step_time import TimeModel, step_time
from reproductions.paro.method.strategy import strategy_of
from tests.reproductions.paro.method.printed import CLUSTER, PRINTED, STRATEGIES, unlike

SEVEN_B = Workload(num_params=7e9, accumulation=10)


@pytest.mark.parametrize(("workload", "_", "seconds"), PRINTED.values(), ids=PRINTED)
def test_communication_is_as_worked_out_apart(workload: Workload, _: str, seconds: str) -> None:
    found = [step_time(each, workload, CLUSTER).comm for each in STRATEGIES]
    assert unlike(found, seconds) == []


def test_iig_by_hand() -> None:
    """Three times a micro-batch 7/8 of 14 GB at 250 GB/s; twice 3/4 of 14/8 GB at 10 GB/s."""
    found = step_time(strategy_of("IIG"), SEVEN_B, CLUSTER)
    within, between = 7 / 8 * 14 / 250, 3 / 4 * 14 / 8 / 10
    assert found.terms == pytest.approx(
        {"param": 2 * within, "gradient": within, "sync_g": between, "sync_p": between}
    )
    assert found.comm == pytest.approx(10 * 3 * within + 2 * between)


def test_ways_to_put_time_together() -> None:
    iig = strategy_of("IIG")
    found = {
        assembly: step_time(iig, SEVEN_B, CLUSTER, TimeModel(assembly=assembly), compute_s=5.0)
        for assembly in ("comm", "max", "sum")
    }  # type: ignore[arg-type]
    comm = found["comm"].comm
    assert {name: each.total for name, each in found.items()} == pytest.approx(
        {"comm": comm, "max": 5.0, "sum": comm + 5.0}
    )


def test_ways_of_a_collective_of_all_gpus() -> None:
    ggg, nni = strategy_of("GGG"), strategy_of("NNI")
    flat = step_time(ggg, SEVEN_B, CLUSTER).comm
    scaled = TimeModel(world="scaled", cc_factor=0.6)
    assert step_time(ggg, SEVEN_B, CLUSTER, scaled).comm == pytest.approx(0.6 * flat)
    assert step_time(ggg, SEVEN_B, CLUSTER, TimeModel(world="hier")).comm < 0.2 * flat
    # It has none.
    for model in (scaled, TimeModel(world="hier")):
        assert step_time(nni, SEVEN_B, CLUSTER, model).comm == step_time(nni, SEVEN_B, CLUSTER).comm


def test_a_sync_in_every_micro_batch_is_counted_as_often() -> None:
    iii = strategy_of("III")
    once = step_time(iii, SEVEN_B, CLUSTER)
    always = step_time(iii, SEVEN_B, CLUSTER, sync_every_micro_batch=True)
    assert always.terms["sync_g"] == pytest.approx(10 * once.terms["sync_g"])
    assert always.comm - once.comm == pytest.approx(9 * once.terms["sync_g"])
    nng = step_time(strategy_of("NNG"), SEVEN_B, CLUSTER, sync_every_micro_batch=True)
    # New parameters are handed back once all the same.
    assert nng.terms["sync_p"] == step_time(strategy_of("NNG"), SEVEN_B, CLUSTER).terms["sync_p"]


def test_what_there_cannot_be_is_refused() -> None:
    with pytest.raises(SpecError, match="cc_factor"):
        TimeModel(world="scaled", cc_factor=1.5)
    with pytest.raises(SpecError, match="world='scaled' alone"):
        TimeModel(cc_factor=0.7)
    with pytest.raises(SpecError, match="compute_s"):
        step_time(strategy_of("NNN"), SEVEN_B, CLUSTER, compute_s=-1.0)


@pytest.mark.parametrize("world", ["flat", "hier"])
def test_rounding_puts_nothing_on_the_front(world: str) -> None:
    """III sends what IIG sends, in another number of collectives, and holds more."""
    for share in (1.0, 1 / 16, 3 / 1000):
        workload = Workload(num_params=7e9, trainable_share=share, accumulation=10)
        found = predict(workload, CLUSTER, TimeModel(world=world))  # type: ignore[arg-type]
        assert "III" not in {each.strategy.letters for each in pareto_front(found)}
        order = [each.strategy.letters for each in ranked(found)]
        assert order.index("IIG") < order.index("III")
