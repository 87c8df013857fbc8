"""Sweeps of the initial standard deviation over sparsity: Figures 7 and 13 (Table 4).

Short runs at a constant learning rate: the paper looks at the early loss, since extreme starts
diverge later. The two half-way ablations are dense muP at density 1, so they run sparse only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from harness.declare.experiment import RawParams
from reproductions.supar.method.base_hyperparameters import TABLE_3
from reproductions.supar.method.parameterization import Scheme
from reproductions.supar.models.gpt_experiment import gpt_experiment
from reproductions.supar.models.points import (
    ABLATIONS,
    FEW_DENSITIES,
    GPU_DENSITIES,
    PAPER_DENSITIES,
    SCHEMES,
    SIGMA_LOG2,
    Point,
    constant,
    gpt_shape,
    paper_net,
    swept,
    window,
)
from reproductions.supar.sweeps import lr_sweep

PAPER_CENTRES: dict[Scheme, int] = {
    "sp": -2,
    "mup": 0,
    "supar": 0,
    "mup_init_only": 0,
    "mup_lr_only": 0,
}
"""The middle of Figure 7's axes: what is best for small nets on characters need not be there."""
CENTRES: dict[Scheme, int] = {"sp": 1, "mup": 1, "supar": 1, "mup_init_only": 1, "mup_lr_only": 1}
"""k of the best dense standard deviation in `dense_pilot`, family `sigma`; all but SP are muP
there."""


def smoke_grid() -> Iterator[RawParams]:
    """Yield three standard deviations at two densities: the path, not a result."""
    shape = gpt_shape(data="grammar-text", width=64, base_width=32, context=32, batch_size=8)
    net = shape | constant(15, clip_norm=1.0)
    for scheme, density in _curves((1.0, 1 / 4)):
        for k in (-1, 0, 1):
            yield point(scheme, density, CENTRES[scheme] + k, 0, net)


def cpu_grid() -> Iterator[RawParams]:
    """Yield the sweep of the net of `lr_sweep` in 100 steps.

    Its windows are longer downward by one step per halving of the density, for every scheme: in
    the first run, which had `window` alone, the best starts of SP and muP at density 1/16 lay on
    the lower end.
    """
    yield from _sweep(FEW_DENSITIES, CPU_NET, CENTRES, steps_below=1)


def gpu_grid() -> Iterator[RawParams]:
    """Yield the same at width 1024, down to density 1/64."""
    yield from _sweep(GPU_DENSITIES, GPU_NET, CENTRES)


def paper_grid() -> Iterator[RawParams]:
    """Yield the paper's own sweep (Table 4): 1.6M tokens a trial."""
    yield from _sweep(PAPER_DENSITIES, PAPER_NET, PAPER_CENTRES)


CPU_NET = lr_sweep.CPU_NET | constant(100, clip_norm=1.0)
GPU_NET = lr_sweep.GPU_NET | constant(40, clip_norm=1.0)
PAPER_NET = paper_net(width=4096, batch_size=8, micro_batches=1) | constant(100, clip_norm=1.0)


def point(scheme: Scheme, density: float, k: int, seed: int, net: Point) -> Point:
    """Return a trial of a net at sigma_base * 2^k, with the learning rate of Table 3."""
    base = {
        "log2_sigma": SIGMA_LOG2 + k,
        "lr": TABLE_3.lr,
        "input_multiplier": TABLE_3.input_multiplier,
        "output_multiplier": TABLE_3.output_multiplier,
    }
    return swept(scheme, density, seed) | base | net


def _curves(densities: Sequence[float]) -> Iterator[tuple[Scheme, float]]:
    for scheme in (*SCHEMES, *ABLATIONS):
        for density in densities:
            if density < 1.0 or scheme in SCHEMES:
                yield scheme, density


def _sweep(
    densities: Sequence[float],
    net: Point,
    centres: dict[Scheme, int],
    *,
    steps_below: int = 0,
) -> Iterator[Point]:
    for seed in range(3):
        for scheme, density in _curves(densities):
            steps = window(scheme, density, centre=centres[scheme])
            lowest = steps[0] - steps_below * math.ceil(-math.log2(density))
            for k in range(lowest, steps[-1] + 1):
                yield point(scheme, density, k, seed, net)


experiment = gpt_experiment(
    "supar/sigma_sweep",
    version=1,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    address=("scheme", "density", "log2_sigma", "seed"),
)
