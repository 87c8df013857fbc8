"""LISA's warm step against full training's, and what a switch of blocks costs, on 32 blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.benchmarks.conftest import GoalFixture

if TYPE_CHECKING:
    from reproductions.lisa.method.methods import Method
    from reproductions.lisa.step_time.timing import Times

PERIOD = 13
"""The paper's K in its ablations: ten periods in 122 steps."""
NO_SWITCH = 10**9
NUM_WARMUP, NUM_TIMED = 5, 40


def _timed(goal: GoalFixture, *methods: Method) -> list[Times]:
    """Time steps of the setting that `lisa/step_time` has at cpu, methods in turn."""
    from reproductions.lisa.models.shapes import shape_of
    from reproductions.lisa.models.steps.memory import Workload
    from reproductions.lisa.step_time.experiment import grid
    from reproductions.lisa.step_time.timing import Step, warm_times

    timing = next(grid("cpu"))
    workload = Workload(seq_len=timing.seq_len, batch_size=timing.batch_size, dtype=timing.dtype)
    shape = shape_of(timing.shape)
    return warm_times(
        [Step(method, shape, workload, device="cpu", seed=0) for method in methods],
        device="cpu",
        num_warmup=goal.size(NUM_WARMUP),
        num_timed=goal.size(NUM_TIMED, tried=2),
    )


def test_a_step_of_lisa_takes_at_most_0_85_of_full_training_s(
    goal: GoalFixture,
) -> None:
    """Interleave the phases of both; the ratio is that of the medians of their sums."""
    from reproductions.lisa.method.methods import Full, LisaMethod

    record = goal("lisa_step", limit=0.85, unit="ratio", direction="at_most")
    lisa, full = _timed(goal, LisaMethod(gamma=2, period=NO_SWITCH, seed=0), Full())
    ours, theirs = lisa.samples_ms["total"], full.samples_ms["total"]
    record(
        _median(ours) / _median(theirs),
        samples=[a / b for a, b in zip(ours, theirs, strict=True)],
        seconds=[ms / 1e3 for ms in ours],
        note=f"tiny-deep, two of 32 blocks, AdamW in one pass, one CPU thread; matrix products"
        f" alone: {lisa.flops['total'] / full.flops['total']:.2f}",
    )


def test_switching_blocks_takes_at_most_a_hundredth_of_a_period(
    goal: GoalFixture,
) -> None:
    """Compare updates that end in a switch, new moments at the next included, with others."""
    from reproductions.lisa.method.methods import LisaMethod

    record = goal("lisa_switch", limit=0.01, unit="share", direction="at_most")
    methods = (LisaMethod(gamma=2, period=k, seed=0) for k in (1, NO_SWITCH))
    switching, staying = _timed(goal, *methods)
    period_ms = PERIOD * _median(staying.samples_ms["total"])
    pairs = zip(switching.samples_ms["optimizer"], staying.samples_ms["optimizer"], strict=True)
    extra = [(after - before) / period_ms for after, before in pairs]
    record(
        _median(extra),
        samples=extra,
        seconds=[ms / 1e3 for ms in switching.samples_ms["optimizer"]],
        note=f"tiny-deep, K = {PERIOD}, two of 32 blocks, states of frozen blocks dropped: an"
        " update with a switch less one without, over the steps of a period, one CPU thread",
    )


def _median(samples: Any) -> float:
    from statistics import median

    return float(median(samples))
