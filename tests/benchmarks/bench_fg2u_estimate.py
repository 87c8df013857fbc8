"""Time of hypergradients: directions together, processes, a plain unroll, and other libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.conftest import GoalFixture

if TYPE_CHECKING:
    from torch import Tensor, nn

    from reproductions.fg2u.method.problem import Problem
    from reproductions.fg2u.models.images import Judge
    from reproductions.fg2u.overview.experiment import Timed

LR, MOMENTUM = 0.05, 0.9
NUM_STEPS = 20
PEERS = (
    "torchopt and higher are no dependency: in a virtual environment of its own,"
    " pip install torchopt==0.7.3 higher==0.2.1"
)
Samples = dict["Timed", list[float]]


@pytest.fixture(scope="module")
def samples(request: pytest.FixtureRequest) -> Samples:
    """Return the seconds of all estimates of one trial of `fg2u/step_time` at cpu.

    Where benchmarks are only tried, of one step and one round.
    """
    from harness.data.bundled import digits
    from reproductions.fg2u.overview.experiment import grid, timed_of
    from reproductions.fg2u.overview.timing import samples_of

    timing, real = next(iter(grid("cpu"))), digits()
    if request.config.getoption("--benchmark-disable"):
        timing = replace(timing, depth=1, keep=1, inner_batch=10, num_warmup=0, num_timed=1)
    given = {
        "pixels": real["x"][: timing.outer_batch].tolist(),
        "labels": real["y"][: timing.outer_batch].tolist(),
        "init": 0,
        "directions": 1,
    }
    return dict(zip(timed_of(timing), samples_of(timing, given), strict=True))


def _forward(chunk: int, workers: int = 1) -> Timed:
    from reproductions.fg2u.overview.experiment import Timed

    return Timed(method="fg2u", chunk=chunk, workers=workers)


def _ratios(above: list[float], below: list[float]) -> list[float]:
    return [a / b for a, b in zip(above, below, strict=True)]


def test_a_direction_among_16_takes_at_most_0_7_of_one_alone(
    goal: GoalFixture, samples: Samples
) -> None:
    record = goal("fg2u_chunk", limit=0.7, unit="ratio", direction="at_most")
    together, alone = samples[_forward(16)], samples[_forward(1)]
    record(
        median(together) / median(alone),
        samples=_ratios(together, alone),
        seconds=together,
        note="16 directions, chunk 16 over chunk 1; the ConvNet of fg2u/step_time at cpu, one"
        " thread",
    )


def test_two_processes_are_at_least_1_5_times_as_fast(goal: GoalFixture, samples: Samples) -> None:
    record = goal("fg2u_workers", limit=1.5, unit="ratio", direction="at_least")
    alone, shared = samples[_forward(8)], samples[_forward(8, workers=2)]
    record(
        median(alone) / median(shared),
        samples=_ratios(alone, shared),
        seconds=shared,
        note="16 directions at chunk 8, one process over two of one thread each (gloo), start-up"
        " outside; the ConvNet of fg2u/step_time at cpu",
    )


def _problem(sizes: tuple[int, ...], num_images: int) -> tuple[Problem, Tensor, Judge]:
    """Return an MLP that noise images train, judged by others."""
    import torch

    from reproductions.fg2u.method.optimizers import Sgd
    from reproductions.fg2u.models.images import Judge, training_images
    from reproductions.fg2u.models.mlp import Mlp

    net, generator = Mlp(sizes=sizes), torch.Generator().manual_seed(0)
    problem = training_images(
        net,
        num_steps=NUM_STEPS,
        optimizer=Sgd(lr=LR, momentum=MOMENTUM),
        inner_batch=num_images,
    )
    phi, images = torch.rand(2, num_images, 1, 8, 8, generator=generator)
    labels = torch.arange(num_images) % 10
    return problem, phi, Judge(init=net.drawn(generator), images=images, labels=labels)


def test_one_direction_takes_at_most_3_5_plain_unrolls(goal: GoalFixture) -> None:
    """Interleave both, where matrix products and not calls take the time."""
    import torch

    from harness.measure.timing import measure_interleaved
    from reproductions.fg2u.method.methods import hypergradient

    record = goal("fg2u_direction", limit=3.5, unit="ratio", direction="at_most")
    sizes, num_images = (64, 512, 512, 10), 512
    problem, phi, judge = _problem(sizes, num_images)
    method = hypergradient("fg2u", num_directions=1)

    def plain() -> None:
        with torch.no_grad():
            problem.unroll(phi, judge)

    def direction() -> None:
        method(problem, phi, judge)

    ours, unit = measure_interleaved(
        [direction, plain], device="cpu",
        **goal.sampling(warmup_s=0.5, min_samples=20, budget_s=5.0),
    )  # fmt: skip
    record(
        ours.median_ms / unit.median_ms,
        samples=_ratios(list(ours.samples_ms), list(unit.samples_ms)),
        seconds=[ms / 1e3 for ms in ours.samples_ms],
        note=f"MLP {'-'.join(map(str, sizes))}, {num_images} images, {NUM_STEPS} steps of SGD with"
        " momentum, one CPU thread; in small nets the calls of torch.func take several times more",
    )


@dataclass(frozen=True, kw_only=True)
class Unroll:
    """The same unroll, as other libraries take it."""

    init: list[Tensor]
    phi: Tensor
    judge: Judge

    def net(self) -> nn.Module:
        from torch import nn
        from torch.nn.utils import skip_init

        layers: list[nn.Module] = []
        for weight in self.init:
            # Without weights of its own, which would be drawn inside the clock.
            linear = skip_init(nn.Linear, weight.shape[1], weight.shape[0], bias=False)
            linear.weight.data.copy_(weight)
            layers += [linear, nn.Tanh()]
        return nn.Sequential(nn.Flatten(), *layers[:-1])

    def by_torchopt(self) -> Tensor:
        import torch
        import torchopt
        from torch.nn.functional import cross_entropy

        net, phi = self.net(), self.phi.clone().requires_grad_()
        optimizer = torchopt.MetaSGD(net, lr=LR, momentum=MOMENTUM)
        for _ in range(NUM_STEPS):
            optimizer.step(cross_entropy(net(phi), self.judge.labels))
        outer = cross_entropy(net(self.judge.images), self.judge.labels)
        return torch.autograd.grad(outer, phi)[0]

    def by_higher(self) -> Tensor:
        import higher
        import torch
        from torch.nn.functional import cross_entropy

        net, phi = self.net(), self.phi.clone().requires_grad_()
        optimizer = torch.optim.SGD(net.parameters(), lr=LR, momentum=MOMENTUM)
        with higher.innerloop_ctx(net, optimizer) as (fnet, inner):
            for _ in range(NUM_STEPS):
                inner.step(cross_entropy(fnet(phi), self.judge.labels))
            outer = cross_entropy(fnet(self.judge.images), self.judge.labels)
            return torch.autograd.grad(outer, phi)[0]


def test_reverse_unrolling_is_as_fast_as_the_faster_library(
    goal: GoalFixture,
) -> None:
    """Interleave all three on one unroll; their gradients must be equal."""
    for name in ("torchopt", "higher"):
        pytest.importorskip(name, reason=PEERS)
    import torch

    from harness.measure.timing import measure_interleaved
    from reproductions.fg2u.method.methods import hypergradient

    record = goal("rgu_peers", limit=1.1, unit="ratio", direction="at_most")
    sizes, num_images = (64, 64, 64, 64, 10), 64
    problem, phi, judge = _problem(sizes, num_images)
    unroll, method = Unroll(init=judge.init, phi=phi, judge=judge), hypergradient("rgu")

    def ours() -> Tensor:
        return method(problem, phi, judge).grad

    theirs: dict[str, Callable[[], Tensor]] = {
        "torchopt": unroll.by_torchopt,
        "higher": unroll.by_higher,
    }
    for name, take in theirs.items():
        assert torch.allclose(take(), ours(), rtol=1e-4, atol=1e-7), name
    mine, *peers = measure_interleaved(
        [ours, *theirs.values()], device="cpu",
        **goal.sampling(warmup_s=0.5, min_samples=40, budget_s=5.0),
    )  # fmt: skip
    fastest = min(peers, key=lambda timing: timing.median_ms)
    shares = ", ".join(
        f"{mine.median_ms / peer.median_ms:.2f} of {name}'s"
        for name, peer in zip(theirs, peers, strict=True)
    )
    record(
        mine.median_ms / fastest.median_ms,
        samples=_ratios(list(mine.samples_ms), list(fastest.samples_ms)),
        seconds=[ms / 1e3 for ms in mine.samples_ms],
        note=f"{shares}; MLP {'-'.join(map(str, sizes))}, {num_images} images, {NUM_STEPS} steps of"
        " SGD with momentum, equal gradients, one CPU thread",
    )
