"""Deep nets at equal counts of hidden weights, with hyperparameters fixed: Figure 10.

muP and SmuPar keep Table 3's learning rate on every rung; SP has one for the two narrow rungs
and a third of it for the two wide ones, as the paper took them from common practice.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import RawParams
from reproductions.supar.method.base_hyperparameters import TABLE_3
from reproductions.supar.method.parameterization import Scheme
from reproductions.supar.models.gpt_experiment import gpt_experiment
from reproductions.supar.models.points import (
    ETA_LOG2,
    PUBLISHED_SP_STD,
    SCHEMES,
    Point,
    base_params,
    decaying,
    paper_net,
    swept,
)
from reproductions.supar.sweeps import iso_parameter

SP_CENTRE = -3
"""k of SP's best dense learning rate in `dense_pilot`, family `fixed`; our stand-in for 6e-4."""
PAPER_SP_LR = 6e-4
WIDE_FACTOR = 1 / 3
"""The paper's 2e-4 over its 6e-4, for widths over 1088 / 768 of the first rung's."""


def smoke_grid() -> Iterator[RawParams]:
    """Yield the first two rungs of a small net: the path, not a result."""
    net = iso_parameter.SMOKE_NET | {"num_layers": 3}
    for point in _grid(net, sp_lr=2.0 ** (ETA_LOG2 + SP_CENTRE), num_seeds=1):
        if float(point["density"]) >= 1 / 2:
            yield point


def cpu_grid() -> Iterator[RawParams]:
    """Yield ten layers on the ladder of Figure 9."""
    yield from _grid(CPU_NET, sp_lr=2.0 ** (ETA_LOG2 + SP_CENTRE), num_seeds=5)


def gpu_grid() -> Iterator[RawParams]:
    """Yield ten layers at the paper's widths, on characters."""
    yield from _grid(GPU_NET, sp_lr=PAPER_SP_LR, num_seeds=3)


def paper_grid() -> Iterator[RawParams]:
    """Yield the paper's own runs (Table 4): 1B tokens a trial."""
    yield from _grid(PAPER_NET, sp_lr=PAPER_SP_LR, num_seeds=3)


CPU_NET = iso_parameter.CPU_NET | {"num_layers": 10}
GPU_NET = iso_parameter.GPU_NET | {"num_layers": 10} | decaying(250)
PAPER_NET = paper_net(width=768, num_layers=10, batch_size=256, micro_batches=32) | decaying(1907)


def _grid(net: Point, *, sp_lr: float, num_seeds: int) -> Iterator[Point]:
    for seed in range(num_seeds):
        for scheme in SCHEMES:
            for density, rung in iso_parameter.ladder(net):
                yield _point(scheme, density, seed, rung, sp_lr)


def _point(scheme: Scheme, density: float, seed: int, rung: Point, sp_lr: float) -> Point:
    wide = density < 1 / 2
    lr = TABLE_3.lr if scheme != "sp" else sp_lr * WIDE_FACTOR if wide else sp_lr
    start = base_params(scheme, sp_init_std=PUBLISHED_SP_STD, base=TABLE_3)
    return swept(scheme, density, seed) | {"lr": lr} | start | rung


experiment = gpt_experiment(
    "supar/fixed_hyperparameters",
    version=1,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    address=("scheme", "density", "width", "seed"),
)
