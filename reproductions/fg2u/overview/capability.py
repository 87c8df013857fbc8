"""Measure what a method can do: its memory at two depths, its bias, what it takes of the Hessian.

Letters: N pixels of all images, 4 x 4 each.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, cross_entropy

from harness.declare import Row, RunContext
from reproductions.fg2u.method.estimator import Estimator, MetaGrad
from reproductions.fg2u.method.methods import fitted, hypergradient
from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.method.problem import Problem, from_loss
from reproductions.fg2u.method.trees import norm
from reproductions.fg2u.models.condensation import judged
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.mlp import Mlp, scores
from reproductions.fg2u.overview.experiment import Capability

NUM_BATCHES = 2
"""Mini-batches that inner steps take in turn, an image per digit in each."""
NUM_REAL = 256
SIZE = 4
"""Pixels along a side."""
CHUNK = 64


def capability_row(params: Capability, ctx: RunContext) -> list[Row]:
    """Estimate at two depths with memory counted, and compare the mean estimate with RGU's."""
    phi, batch = start(params, ctx)
    one = counted(params, phi, batch, params.depth)
    long = counted(params, phi, batch, params.long_depth)
    exact = hypergradient("rgu")(images_problem(params.depth), phi, batch).grad
    mean = mean_estimate(params)(images_problem(params.depth), phi, batch).grad
    return [
        {
            "num_meta": phi.numel(),
            "peak_bytes": one.stats.peak_bytes,
            "long_peak_bytes": long.stats.peak_bytes,
            "num_hvps": one.stats.counts.hvps,
            "relative_bias": float(norm(mean - exact) / norm(exact)),
            "takes_minibatches": math.isfinite(float(norm(long.grad))),
        }
    ]


def start(params: Capability, ctx: RunContext) -> tuple[Tensor, dict[str, Any]]:
    """Return noise images, and a batch of initial weights and real digits, in float64."""
    generator = generator_of(ctx, "init")
    real = ctx.dataset("digits").arrays
    images = torch.tensor(real["x"][:NUM_REAL], dtype=torch.float64).reshape(-1, 1, 8, 8) / 16.0
    net = Mlp(sizes=(SIZE**2, params.hidden, 10))
    batch = {
        "init": net.drawn(generator, dtype=torch.float64),
        "images": avg_pool2d(images, 8 // SIZE).flatten(1),
        "labels": torch.tensor(real["y"][:NUM_REAL]).long(),
    }
    shape = (10 * NUM_BATCHES, SIZE, SIZE)
    return torch.rand(shape, generator=generator, dtype=torch.float64), batch


def images_problem(depth: int) -> Problem:
    """Return the problem: images train a net that must read real digits."""
    digit = torch.arange(10)

    def loss(weights: list[Tensor], phi: Tensor, batch: Any, number: int) -> Tensor:
        return cross_entropy(scores(weights, phi[number % NUM_BATCHES :: NUM_BATCHES]), digit)

    return from_loss(
        start=lambda phi, batch: batch["init"],
        loss=loss,
        outer_loss=judged,
        optimizer=Sgd(lr=0.05, momentum=0.9),
        num_steps=depth,
    )


def counted(params: Capability, phi: Tensor, batch: Any, depth: int) -> MetaGrad:
    """Return one estimate, with its live bytes counted."""
    method = method_of(params, num_directions=1, measure_memory=True)
    return method(images_problem(depth), phi, batch, torch.Generator().manual_seed(0))


def mean_estimate(params: Capability) -> Estimator:
    """Return what gives a method's mean: all coordinates as directions, where it has any."""
    count = 10 * NUM_BATCHES * SIZE**2
    return method_of(params, num_directions=count, chunk=CHUNK, directions="coordinate")


def method_of(params: Capability, *, measure_memory: bool = False, **directions: Any) -> Estimator:
    """Return a method with the options that it has."""
    return fitted(
        params.method, measure_memory=measure_memory, keep=params.kept_steps, terms=params.terms,
        **directions,
    )  # fmt: skip
