"""From the parameters of a trial on differences to its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from reproductions.fg2u.differences.experiment import NUM_DIRECTIONS, Steps, exponents
from reproductions.fg2u.method.directions import Kind
from reproductions.fg2u.method.forward import Scheme
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.trees import tree_map
from reproductions.fg2u.models.digits import Instance, learned_rates


def difference_rows(params: Steps, ctx: RunContext) -> list[Row]:
    """Compare differences at every step with derivatives along the same directions."""
    arrays = ctx.dataset("digits").arrays
    instance = learned_rates(
        arrays, num_meta=params.num_meta, num_steps=params.num_steps, seed=ctx.seed("problem")
    )
    exact = hypergradient("rgu")(instance.problem, instance.phi, instance.batch).grad
    rounded = in_dtype(instance, getattr(torch, params.dtype))
    seed = ctx.seed("directions")
    rows: list[Row] = []
    for kind, count in kinds_of(params.num_meta):
        slopes = estimate(instance, "fg2u", kind, count, seed)
        for scheme in get_args(Scheme):
            for exponent in exponents(params.last_exponent):
                found = estimate(
                    rounded, "fg2u-zo", kind, count, seed, mu=10.0**exponent, scheme=scheme
                )
                rows.append(
                    {
                        "scheme": scheme,
                        "directions": kind,
                        "log10_mu": exponent,
                        "num_directions": count,
                        "relative_error": relative(found.double(), slopes),
                        "gradient_error": relative(found.double(), exact),
                    }
                )
    return rows


def kinds_of(num_meta: int) -> Sequence[tuple[Kind, int]]:
    """Return kinds of directions with their number; the grid brings its own."""
    if num_meta == 1:
        return (("rademacher", 1), ("gauss-grid", 12))
    return (("rademacher", NUM_DIRECTIONS),)


def in_dtype(instance: Instance, dtype: torch.dtype) -> Instance:
    """Return the instance with all real numbers rounded to a precision."""

    def rounded(leaf: Tensor) -> Tensor:
        return leaf.to(dtype) if leaf.is_floating_point() else leaf

    return Instance(instance.problem, rounded(instance.phi), tree_map(rounded, instance.batch))


def estimate(
    instance: Instance, method: str, kind: Kind, count: int, seed: int, **options: float | str
) -> Tensor:
    """Return an estimate; those of one seed have the same directions, whatever the method."""
    made = hypergradient(method, num_directions=count, chunk=count, directions=kind, **options)
    generator = torch.Generator().manual_seed(seed)
    grad: Tensor = made(instance.problem, instance.phi, instance.batch, generator).grad
    return grad


def relative(found: Tensor, exact: Tensor) -> float:
    """Return |found - exact| / |exact|."""
    return float((found - exact).norm() / exact.norm())
