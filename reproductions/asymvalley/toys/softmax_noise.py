"""The softmax toy of Figure 29: the paper's own settings in every profile.

The fit is deterministic and the same for every seed; a seed is a draw of the noise. Raw and
sign-consistent rows share the draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import Estimate, Experiment, Needs, RawParams, Row, RunContext

if TYPE_CHECKING:
    from torch import Tensor

    from reproductions.asymvalley.toys.softmax import Images

NUM_LAMBDAS = 21
MAX_ITER = 500


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Return the metrics along the noise and its sign-consistent form, one row a size."""
    import torch

    from reproductions.asymvalley.method.noise import sign_consistent
    from reproductions.asymvalley.toys.softmax import draw_direction, fit_softmax, grid_of_sizes

    images = digits(ctx)
    weights_CD = fit_softmax(images, max_iter=int(params["max_iter"]))
    noise_CD = draw_direction(weights_CD, torch.Generator().manual_seed(ctx.seed("noise")))
    rows: list[Row] = []
    for consistent in (False, True):
        along_CD = sign_consistent(noise_CD, weights_CD) if consistent else noise_CD
        for size in grid_of_sizes(int(params["num_lambdas"])):
            place = {"sign_consistent": consistent, "lambda": size}
            rows.append(place | _row(weights_CD, along_CD, size, images))
    return rows


def _row(weights_CD: Tensor, noise_CD: Tensor, size: float, images: Images) -> dict[str, float]:
    from reproductions.asymvalley.toys.softmax import metrics

    moved_CD = weights_CD + size * noise_CD
    along_noise = metrics(moved_CD, images, direction_CD=noise_CD)
    as_listed = metrics(moved_CD, images, direction_CD=moved_CD)
    return {
        "error": along_noise.error,
        "ce": along_noise.ce,
        "trace_p": along_noise.trace_p,
        "trace_h": along_noise.trace_h,
        "first_order_eps": along_noise.first_order,
        "second_order_eps": along_noise.second_order,
        "first_order_weight": as_listed.first_order,
        "second_order_weight": as_listed.second_order,
    }


def digits(ctx: RunContext) -> Images:
    """Return all 1797 digits with raw pixel values, as both toys on digits use them."""
    import torch

    from reproductions.asymvalley.toys.softmax import Images

    arrays = ctx.dataset("digits").arrays
    # A copy: torch warns of arrays that cannot be written to, as a data set is.
    pixels = torch.from_numpy(arrays["x"].astype("float64"))
    return Images(
        pixels_ND=pixels.flatten(start_dim=1),
        labels_N=torch.from_numpy(arrays["y"].astype("int64")),
    )


def smoke_grid() -> Iterator[RawParams]:
    """Yield one seed."""
    yield from _points(1)


def paper_grid() -> Iterator[RawParams]:
    """Yield five draws of the noise."""
    yield from _points(5)


def _points(num_seeds: int) -> Iterator[RawParams]:
    for seed in range(num_seeds):
        yield {"num_lambdas": NUM_LAMBDAS, "max_iter": MAX_ITER, "seed": seed}


def estimate(params: RawParams) -> Estimate:
    """Return the measured cost: a fit and two lines of metrics."""
    return Estimate(seconds=0.2 + 0.002 * int(params["num_lambdas"]), memory_bytes=200_000_000)


experiment = Experiment(
    id="asymvalley/softmax_noise",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": paper_grid, "paper": paper_grid},
    needs=Needs(data=("digits",)),
    estimate=estimate,
    address=("seed",),
)
