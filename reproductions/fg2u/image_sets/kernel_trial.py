"""From the parameters of a trial to a row per way to take an outer step of data condensation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import torch
from torch.backends import cudnn

from harness.declare import Row, RunContext
from harness.measure.in_turn import Way, rows_in_turn
from reproductions.fg2u.image_sets.cells import SMOKE
from reproductions.fg2u.image_sets.data import Labelled, splits_of
from reproductions.fg2u.image_sets.experiment import one_phase
from reproductions.fg2u.image_sets.kernel_experiment import TAKEN, KernelStep, Taken
from reproductions.fg2u.image_sets.params import Condensation
from reproductions.fg2u.image_sets.problem import Given, batches, condensation, first_weights
from reproductions.fg2u.image_sets.trial import noise
from reproductions.fg2u.method.adjoint import Fg2uAdjoint
from reproductions.fg2u.method.descent import Phase, descend
from reproductions.fg2u.method.directions import make_directions
from reproductions.fg2u.method.forward import Fg2u
from reproductions.fg2u.method.tangents import carry
from reproductions.fg2u.method.trees import split
from reproductions.fg2u.models.draws import generator_of
from reproductions.kernels.backend import chosen, without_kernels
from reproductions.kernels.precision import apart, tolerance

NUM_STEPS, NUM_DIRECTIONS, NUM_JUDGES = 2, 4, 16
"""Of the small problem that is solved by kernels and otherwise."""


def step_rows(params: KernelStep, ctx: RunContext) -> list[Row]:
    """Time an outer step, taken in all ways in turn."""
    small = replace(one_phase(SMOKE[0], "fg2u", seed=0), device=params.device, depth=NUM_STEPS)
    share = parting(small, ctx.seed("small"))
    length = small.depth * small.image_size**2 * small.num_images
    agrees = share <= tolerance(torch.float32, length)["rtol"]
    rows = rows_in_turn(
        [_way(taken, params, ctx) for taken in TAKEN],
        device=ctx.device,
        num_warmup=params.num_warmup,
        num_timed=params.steps,
    )
    # Both kernels are in the first way, and the small problem is solved in it.
    asked = {"agrees": agrees, "apart": share}
    return [row | (dict.fromkeys(asked) if number else asked) for number, row in enumerate(rows)]


def parting(small: Condensation, seed: int) -> float:
    """Return how far a gradient by kernels is from one by torch.func and a sum of directions.

    As a share of the latter, in float32, along the same directions.
    """
    generator, device = torch.Generator().manual_seed(seed), torch.device(small.device)
    images = noise(small, generator).to(device)
    judges = torch.rand(NUM_JUDGES, *images.shape[1:], generator=generator)
    labels = torch.arange(NUM_JUDGES) % small.num_classes
    given = Given(
        init=first_weights(small, generator),
        judge=Labelled(images=judges, labels=labels).to(small.device),
    )
    problem = condensation(small, num_steps=small.depth)
    numbers = range(NUM_DIRECTIONS)
    drawn = make_directions("philox", NUM_DIRECTIONS, images.numel(), seed)
    rows = split(drawn.rows(numbers, device), images)
    # Convolutions of a GPU would else round factors to ten bits.
    with torch.no_grad(), cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
        carried = carry(chosen("tangent_step", device), problem, images, given, rows)
        found = drawn.combined(carried.slope_C, numbers, images)
        with without_kernels():
            slopes = Fg2u(num_directions=NUM_DIRECTIONS).slopes(problem, images, given, rows)
    return apart([found], [torch.tensordot(slopes.slope_C, rows, dims=1)])


def _way(taken: Taken, params: KernelStep, ctx: RunContext) -> Way:
    kind = Fg2u if taken.estimator == "forward" else Fg2uAdjoint
    method = kind(
        num_directions=params.num_directions, directions=taken.directions,
        chunk=min(params.at_once, params.num_directions),
    )  # fmt: skip

    def make() -> Callable[[], None]:
        images = noise(params, generator_of(ctx, "images")).to(params.device)
        # More than are taken: each call takes one.
        phase = Phase(method=method, num_steps=10**9, lr=params.lr)
        taking = descend(
            condensation(params, num_steps=params.depth),
            images,
            batches(
                params, splits_of(params, ctx).train,
                generator_of(ctx, "init"), generator_of(ctx, "batches"),
            ),
            [phase],
            generator=generator_of(ctx, "directions"),
        )  # fmt: skip

        def step() -> None:
            next(taking)
            images.clamp_(0.0, 1.0)

        return step

    within = nullcontext if taken.kernels else without_kernels
    return Way(told=taken._asdict(), make=make, within=within)
