"""From the parameters of a sampling trial to its rows."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import torch

from harness.declare import Row, RunContext
from reproductions.fg2u.method.directions import Kind
from reproductions.fg2u.method.estimator import Estimator
from reproductions.fg2u.method.forward import Directional
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.noise import directions_for, expected_square
from reproductions.fg2u.models.digits import Instance, few_pixels
from reproductions.fg2u.sampling.draws import CHUNK, Sample, errors, sample
from reproductions.fg2u.sampling.experiment import (
    COORDINATE,
    LADDER,
    MU,
    RADEMACHER,
    SAMPLED,
    TERMS,
    ZERO_ORDER,
    Draws,
)

KEPT = (2, 5, 10)
"""Last steps that TRGU walks back."""
TIMED = (RADEMACHER, ZERO_ORDER)
"""Other directions take as long."""


def sampling_rows(params: Draws, ctx: RunContext) -> list[Row]:
    """Compare estimates of every method with the exact gradient; one row per method and b."""
    instance = few_pixels(
        ctx.dataset("digits").arrays,
        side=params.side,
        num_steps=params.num_steps,
        seed=ctx.seed("problem"),
    )
    exact = hypergradient("rgu")(instance.problem, instance.phi, instance.batch).grad.flatten()
    seed = ctx.seed("directions")
    rows = list(_biased_rows(instance, exact, params.num_timed))
    for name, kind in SAMPLED.items():
        drawn = sample(instance, method_of(name, kind, 1), kind, params.num_draws, seed)
        for count, row in _drawn_rows(drawn, exact, name):
            method = method_of(name, kind, count)
            seconds = seconds_of(method, instance, params.num_timed) if name in TIMED else None
            rows.append({**row, "seconds": seconds})
    return rows


def biased_methods(num_steps: int) -> dict[str, Estimator]:
    """Return the methods that draw nothing, and reverse unrolling to time them by."""
    kept = {f"trgu-{n}": hypergradient("trgu", keep=n) for n in KEPT if n <= num_steps}
    implicit = {
        f"neumann-{TERMS}": hypergradient("neumann", terms=TERMS),
        "hessian-free": hypergradient("hessian-free"),
    }
    return {"rgu": hypergradient("rgu"), **kept, **implicit}


def _biased_rows(instance: Instance, exact_N: torch.Tensor, num_timed: int) -> Iterator[Row]:
    for name, method in biased_methods(instance.problem.num_steps).items():
        found = method(instance.problem, instance.phi, instance.batch).grad.flatten()
        cosine = float(torch.cosine_similarity(found, exact_N, dim=0))
        yield {
            "num_meta": len(exact_N),
            "method": name,
            "num_directions": 0,
            "relative_error": float((found - exact_N).norm() / exact_N.norm()),
            "square_gap": None,
            "cosine": cosine,
            "least_cosine": cosine,
            "mean_error": None,
            "num_estimates": 1,
            "equal_directions": _equal_directions(name, cosine, len(exact_N)),
            "seconds": seconds_of(method, instance, num_timed),
        }


def _equal_directions(name: str, cosine: float, num_meta: int) -> float | None:
    """Return as how many directions a method points as well; none where it points away."""
    if name == "rgu":
        return None
    return directions_for(cosine, num_meta) if cosine > 0.0 else 0.0


def _drawn_rows(drawn: Sample, exact_N: torch.Tensor, name: str) -> Iterator[tuple[int, Row]]:
    """Yield numbers of directions, each with its row but for the seconds."""
    # All N coordinates give the gradient itself.
    most = drawn.block - (1 if name == COORDINATE else 0)
    for count in (b for b in LADDER if b <= most):
        found = errors(drawn, exact_N, count)
        expected = expected_square(SAMPLED[name], len(exact_N), count)
        assert expected is not None
        yield (
            count,
            {
                "num_meta": len(exact_N),
                "method": name,
                "num_directions": count,
                "relative_error": found.square**0.5,
                "square_gap": found.square / expected - 1.0,
                "cosine": found.cosine,
                "least_cosine": found.least_cosine,
                "mean_error": found.mean_error,
                "num_estimates": found.num_estimates,
                "equal_directions": None,
            },
        )


def method_of(name: str, kind: Kind, num_directions: int) -> Directional:
    """Return an estimate of b directions, all of them at once."""
    options = {"mu": MU, "scheme": "forward"} if name == ZERO_ORDER else {}
    found = hypergradient(
        "fg2u-zo" if name == ZERO_ORDER else "fg2u",
        num_directions=num_directions,
        chunk=min(num_directions, CHUNK),
        directions=kind,
        **options,
    )
    assert isinstance(found, Directional)
    return found


def seconds_of(method: Estimator, instance: Instance, num_timed: int) -> float:
    """Return the median time of an estimate."""
    generator = torch.Generator().manual_seed(0)
    return statistics.median(
        method(instance.problem, instance.phi, instance.batch, generator).stats.seconds
        for _ in range(num_timed)
    )
