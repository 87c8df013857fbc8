"""Learning-rate sweeps under dynamic sparsity: Figure 12 (Table 4).

RigL and GMP as in the paper's footnotes 8 and 9; what these leave open is in the deviations. The
net at `cpu` and `gpu` is that of `lr_sweep`, whose dense runs are also those of both methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from harness.declare.experiment import RawParams, RunContext
from reproductions.supar.method.base_hyperparameters import TABLE_3
from reproductions.supar.method.parameterization import Scheme
from reproductions.supar.models.gpt_experiment import gpt_experiment
from reproductions.supar.models.points import (
    ETA_LOG2,
    FEW_DENSITIES,
    GPU_DENSITIES,
    PAPER_DENSITIES,
    SCHEMES,
    Point,
    base_params,
    decaying,
    paper_net,
    std_at_width,
    swept,
)
from reproductions.supar.sweeps import lr_sweep

if TYPE_CHECKING:
    from harness.declare.experiment import Outcome

METHODS = ("rigl", "gmp")
PAPER_INTERVAL, PAPER_STEPS = 100, 1169
PUBLISHED_SP_STD = 2.166e-2
"""Table 4: that of width 4096, although this row's width is 1024."""
MARGIN = 2
"""Points of a window beyond where theory lets an optimum go, so that none is on its edge."""


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Train one net with RigL or GMP; one row with its losses, None where it diverged."""
    from reproductions.supar.dynamic.trial import train_dynamic

    return train_dynamic(params, ctx)


def smoke_grid() -> Iterator[RawParams]:
    """Yield both methods at one learning rate and one density: the path, not a result."""
    for method in METHODS:
        for point in lr_sweep.small_sweep(SCHEMES, (1 / 4,), ks=(0,)):
            yield point | method_params(method, 20)


def cpu_grid() -> Iterator[RawParams]:
    """Yield the sweep at densities 1/4 and 1/16."""
    yield from _sweep(FEW_DENSITIES[1:], lr_sweep.CPU_NET, std_at_width(lr_sweep.CPU_NET))


def gpu_grid() -> Iterator[RawParams]:
    """Yield the sweep of the wider net at density 1/64."""
    yield from _sweep(GPU_DENSITIES[-1:], lr_sweep.GPU_NET, std_at_width(lr_sweep.GPU_NET))


def paper_grid() -> Iterator[RawParams]:
    """Yield the paper's own sweep (Table 4), the dense net too: `lr_sweep` has a wider one."""
    yield from _sweep(PAPER_DENSITIES, PAPER_NET, PUBLISHED_SP_STD)


PAPER_NET = paper_net(width=1024, batch_size=128, micro_batches=8) | decaying(PAPER_STEPS)


def method_params(method: str, steps: int) -> Point:
    """Return a method's settings: as many mask updates in a run as the paper has."""
    return {
        "method": method,
        "update_interval": max(2, round(steps * PAPER_INTERVAL / PAPER_STEPS)),
        "drop_fraction": 0.3,
        "last_update": round(0.75 * steps),
        "regrown_moments": "zeroed",
    }


def dynamic_window(scheme: Scheme, density: float) -> range:
    """Return the swept points as k, equally many for every scheme at one density.

    With static masks theory lets the optimum of SP and muP rise by h = log2(1 / density). A net
    that is dense at first needs none of SmuPar's correction, so its optimum may fall by h.

    >>> [list(dynamic_window(scheme, 1 / 2)) for scheme in ("mup", "supar")]
    [[-2, -1, 0, 1, 2, 3], [-3, -2, -1, 0, 1, 2]]
    """
    centre, halvings = lr_sweep.CENTRES[scheme], round(-math.log2(density))
    down, up = (halvings, 0) if scheme == "supar" else (0, halvings)
    return range(centre - down - MARGIN, centre + up + MARGIN + 1)


def _sweep(densities: Sequence[float], net: Point, sp_init_std: float) -> Iterator[Point]:
    for seed in range(3):
        for method in METHODS:
            for scheme in SCHEMES:
                start = base_params(scheme, sp_init_std=sp_init_std, base=TABLE_3)
                for density in densities:
                    for k in dynamic_window(scheme, density):
                        point = swept(scheme, density, seed) | {"log2_lr": ETA_LOG2 + k}
                        yield point | start | net | method_params(method, int(net["steps"]))


experiment = gpt_experiment(
    "supar/dynamic_sweep",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    address=("method", "scheme", "density", "log2_lr", "seed"),
)
