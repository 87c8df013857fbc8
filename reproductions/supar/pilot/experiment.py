"""Pilots on dense nets alone, which centre the windows of every sweep.

At seed 1000, which no sweep uses. No sparse net is looked at, so no window knows where a sparse
optimum lies. SmuPar and both ablations are muP at density 1, so only SP and muP run.
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
    Point,
    base_params,
    std_at_width,
    swept,
)
from reproductions.supar.sweeps import iso_neuron, iso_parameter, lr_sweep, sigma_sweep
from reproductions.supar.transfer import experiment as transfer
from reproductions.supar.transfer import fixed_hyperparameters

PILOT_SEED = 1000
SP_RATES = range(-8, 3)
"""k tried for SP: common practice has small rates at such widths."""
MUP_RATES = range(-4, 4)
STANDARD_DEVIATIONS = range(-5, 6)


def smoke_grid() -> Iterator[RawParams]:
    """Yield two learning rates of one small net: the path, not a result."""
    net = next(iter(lr_sweep.smoke_grid()))
    shape = {name: value for name, value in net.items() if name not in ("log2_lr", "seed")}
    for k in (-4, -3):
        yield {"family": "sweep", **shape, "log2_lr": ETA_LOG2 + k, "seed": PILOT_SEED}


def cpu_grid() -> Iterator[RawParams]:
    """Yield every family of dense nets that a cpu sweep needs centred."""
    sweep_std = std_at_width(lr_sweep.CPU_NET)
    yield from _rates("sweep", "sp", SP_RATES, lr_sweep.CPU_NET, sweep_std)
    yield from _rates("sweep", "mup", MUP_RATES, lr_sweep.CPU_NET, sweep_std)
    for scheme in ("sp", "mup"):
        for k in STANDARD_DEVIATIONS:
            point = sigma_sweep.point(scheme, 1.0, k, PILOT_SEED, sigma_sweep.CPU_NET)
            yield {"family": "sigma", **point}
    ladder = iso_parameter.CPU_NET
    yield from _rates("iso_parameter", "sp", SP_RATES, ladder, PUBLISHED_SP_STD)
    yield from _rates("iso_parameter", "mup", MUP_RATES, ladder, PUBLISHED_SP_STD)
    deep = fixed_hyperparameters.CPU_NET
    yield from _rates("fixed", "sp", SP_RATES, deep, PUBLISHED_SP_STD)
    yield from _rates("iso_neuron", "sp", SP_RATES, iso_neuron.CPU_NET, TABLE_3.init_std)
    yield from _rates("transfer", "sp", SP_RATES, transfer.CPU_NET, PUBLISHED_SP_STD)


def _rates(
    family: str, scheme: Scheme, ks: range, net: Point, sp_init_std: float
) -> Iterator[Point]:
    start = base_params(scheme, sp_init_std=sp_init_std, base=TABLE_3)
    for k in ks:
        point = swept(scheme, 1.0, PILOT_SEED) | {"log2_lr": ETA_LOG2 + k}
        yield {"family": family} | point | start | net


experiment = gpt_experiment(
    "supar/dense_pilot",
    version=1,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    address=("family", "scheme", "log2_lr", "log2_sigma"),
)
