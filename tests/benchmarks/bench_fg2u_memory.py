"""(FG)2U's memory stays where that of reverse unrolling grows with its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.benchmarks.conftest import GoalFixture


def _peak(depth: int) -> Callable[..., int]:
    """Return what counts a method's live bytes on the MLP of `fg2u/live_memory` at cpu."""
    import torch

    from reproductions.fg2u.live_memory.experiment import LR, MOMENTUM, grid
    from reproductions.fg2u.method.methods import hypergradient
    from reproductions.fg2u.method.optimizers import Sgd
    from reproductions.fg2u.models.images import NETS, Judge, training_images

    setting = replace(next(iter(grid("cpu"))), depth=depth)
    net, generator = NETS[setting.net], torch.Generator().manual_seed(0)
    problem = training_images(
        net,
        num_steps=depth,
        optimizer=Sgd(lr=LR, momentum=MOMENTUM),
        inner_batch=setting.inner_batch,
    )
    phi = torch.rand(setting.num_images, 1, 8, 8, generator=generator)
    judge = Judge(init=net.drawn(generator), images=phi, labels=torch.arange(len(phi)) % 10)

    def count(method: str, **options: Any) -> int:
        meta = hypergradient(method, measure_memory=True, **options)(problem, phi, judge)
        assert meta.stats.peak_bytes is not None
        return meta.stats.peak_bytes

    return count


NOTE = "MLP 64-64-64-64-10, 64 images, SGD with momentum; storages counted, no spread"


def test_one_direction_holds_at_64_steps_what_it_holds_at_8(goal: GoalFixture) -> None:
    record = goal("fg2u_memory_depth", limit=1.05, unit="ratio", direction="at_most")
    deep, shallow = (_peak(depth)("fg2u", num_directions=1) for depth in (64, 8))
    record(deep / shallow, note=f"T = 64 over T = 8; {NOTE}", exact=True)


def test_reverse_unrolling_grows_with_its_steps(goal: GoalFixture) -> None:
    record = goal("rgu_memory_depth", limit=4.0, unit="ratio", direction="at_least")
    deep, shallow = (_peak(depth)("rgu") for depth in (64, 8))
    record(deep / shallow, note=f"T = 64 over T = 8; {NOTE}", exact=True)


def test_mixflow_with_checkpoints_holds_a_quarter_of_reverse_unrolling(goal: GoalFixture) -> None:
    record = goal("mixflow_memory", limit=4.0, unit="ratio", direction="at_least")
    count = _peak(64)
    share = count("rgu") / count("rgu-mixflow", segment=0)
    record(share, note=f"RGU over mixflow, T = 64; {NOTE}", exact=True)
