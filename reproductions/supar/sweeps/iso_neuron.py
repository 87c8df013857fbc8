"""Learning-rate sweeps of SP at equal weights per neuron: Figure 11 (Table 4)."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import RawParams
from reproductions.supar.method.base_hyperparameters import TABLE_3
from reproductions.supar.models.gpt_experiment import gpt_experiment
from reproductions.supar.models.points import (
    ETA_LOG2,
    Point,
    base_params,
    decaying,
    gpt_shape,
    on_gpu,
    paper_net,
    swept,
)

CENTRE = -2
"""k of the best dense learning rate in `dense_pilot`, family `iso_neuron`."""
DENSITIES = (1.0, 1 / 2, 1 / 4, 1 / 8)
"""Widths are the first one's over these: width * density is constant."""


def ladder(net: Point) -> Iterator[tuple[float, Point]]:
    """Yield density and net for each rung; the net's width is that of the dense one."""
    for density in DENSITIES:
        yield density, net | {"width": round(int(net["width"]) / density)}


def smoke_grid() -> Iterator[RawParams]:
    """Yield three learning rates on two rungs: the path, not a result."""
    for density, net in list(ladder(SMOKE_NET))[:2]:
        for k in (-1, 0, 1):
            yield _point(density, CENTRE + k, 0, net)


def cpu_grid() -> Iterator[RawParams]:
    """Yield the sweep of widths 64 to 512."""
    yield from _sweep(CPU_NET)


def gpu_grid() -> Iterator[RawParams]:
    """Yield the sweep at the paper's widths, on characters."""
    yield from _sweep(GPU_NET)


def paper_grid() -> Iterator[RawParams]:
    """Yield the paper's own sweep (Table 4): 306M tokens a trial."""
    yield from _sweep(PAPER_NET)


SMOKE_NET = gpt_shape(
    data="grammar-text", width=32, base_width=32, head_size=16, context=32, batch_size=8
) | decaying(20)
CPU_NET = gpt_shape(
    data="tinyshakespeare", width=64, base_width=64, context=64, batch_size=8
) | decaying(200)
GPU_NET = on_gpu(
    gpt_shape(
        data="tinyshakespeare", width=256, base_width=256, head_size=64, context=128, batch_size=8
    )
) | decaying(150)
PAPER_NET = paper_net(width=256, batch_size=128, micro_batches=8) | decaying(1169)


def _point(density: float, k: int, seed: int, net: Point) -> Point:
    rate: Point = {"log2_lr": ETA_LOG2 + k}
    start = base_params("sp", sp_init_std=TABLE_3.init_std, base=TABLE_3)
    return swept("sp", density, seed) | rate | start | net


def _sweep(net: Point) -> Iterator[Point]:
    for seed in range(3):
        for density, rung in ladder(net):
            # The same window everywhere: it should not matter which rung it is.
            for k in range(CENTRE - 4, CENTRE + 5):
                yield _point(density, k, seed, rung)


experiment = gpt_experiment(
    "supar/iso_neuron",
    version=1,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    address=("density", "width", "log2_lr", "seed"),
)
