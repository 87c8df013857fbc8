"""The simulated ReLU unit of Figure 27, at the paper's own size in every profile but smoke."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import Estimate, Experiment, RawParams, Row, RunContext
from harness.declare.params import Scalar

if TYPE_CHECKING:
    from reproductions.asymvalley.toys.relu_unit import Unit

LAMBDAS = (-1.0, -0.5, 0.0, 0.5, 1.0)
PULL = 0.1
NUM_INPUTS = 128
BIN_WIDTH = 4.0
NUM_BINS = 50
LOWEST = -80.0
"""Left end of the bins: zero is an edge of one, so the ReLU cuts no bin in two."""


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Return one summary row and the bins of a histogram per size of the noise."""
    import torch

    from reproductions.asymvalley.toys.relu_unit import draw_unit

    unit = draw_unit(
        num_inputs=int(params["num_inputs"]),
        num_draws=int(params["num_draws"]),
        pull=float(params["pull"]),
        generator=torch.Generator().manual_seed(ctx.seed("unit")),
    )
    return [row for size in LAMBDAS for row in _rows(unit, size)]


def _rows(unit: Unit, size: float) -> Iterator[Row]:
    from reproductions.asymvalley.toys.relu_unit import (
        density,
        expected_pre_activation,
        pre_activation,
        spread,
    )

    values = pre_activation(unit, size)
    found = spread(values)
    yield {
        "part": "summary",
        "lambda": size,
        "x": 0.0,
        "mean": found.mean,
        "expected_mean": expected_pre_activation(unit.input_D, unit.pull, size),
        "standard_error": found.standard_error,
        "active": found.active,
        "mean_output": found.mean_output,
        "density": None,
    }
    empty = dict.fromkeys(("mean", "expected_mean", "standard_error", "active", "mean_output"))
    heights = density(values, low=LOWEST, width=BIN_WIDTH, num_bins=NUM_BINS)
    for index, height in enumerate(heights):
        centre = LOWEST + (index + 0.5) * BIN_WIDTH
        yield {"part": "bin", "lambda": size, "x": centre, **empty, "density": height}


def smoke_grid() -> Iterator[RawParams]:
    """Yield one seed with a tenth of the draws."""
    yield _point(0, num_draws=1000)


def paper_grid() -> Iterator[RawParams]:
    """Yield five seeds of the paper's simulation: 10,000 draws each."""
    for seed in range(5):
        yield _point(seed, num_draws=10_000)


def _point(seed: int, *, num_draws: int) -> dict[str, Scalar]:
    return {"num_inputs": NUM_INPUTS, "num_draws": num_draws, "pull": PULL, "seed": seed}


def estimate(params: RawParams) -> Estimate:
    """Return the measured cost; memory holds draws times inputs in float64, a few times over."""
    cells = int(params["num_draws"]) * int(params["num_inputs"])
    return Estimate(seconds=0.02 + 6e-8 * cells, memory_bytes=4 * 8 * cells)


experiment = Experiment(
    id="asymvalley/relu_unit",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": paper_grid, "paper": paper_grid},
    estimate=estimate,
    address=("num_draws", "seed"),
)
