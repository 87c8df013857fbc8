"""Learning-rate sweeps at equal counts of hidden weights: Figure 9 (Table 4).

The cpu ladder is the paper's at an eighth of its size: widths, base width and heads, so width and
density multipliers are the paper's own.
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
    gpt_shape,
    on_gpu,
    paper_net,
    swept,
    window,
)

CENTRES: dict[Scheme, int] = {"sp": -2, "mup": 1, "supar": 1}
"""k of the best dense learning rate in `dense_pilot`, family `iso_parameter`."""
PAPER_LADDER = ((1.0, 768), (1 / 2, 1088), (1 / 4, 1536), (1 / 8, 2176))
"""Density and width; density * width^2 is constant to 0.4 %."""
SHRINK = 8


def ladder(net: Point) -> Iterator[tuple[float, Point]]:
    """Yield density and net for each rung, scaled as the net's base width."""
    for density, width in PAPER_LADDER:
        yield density, net | {"width": width * int(net["base_width"]) // 256}


def smoke_grid() -> Iterator[RawParams]:
    """Yield three learning rates on the first two rungs: the path, not a result."""
    for scheme in SCHEMES:
        for density, net in list(ladder(SMOKE_NET))[:2]:
            for k in (-1, 0, 1):
                yield _point(scheme, density, CENTRES[scheme] + k, 0, net)


def cpu_grid() -> Iterator[RawParams]:
    """Yield the sweep of widths 96 to 272."""
    yield from _sweep(CPU_NET)


def gpu_grid() -> Iterator[RawParams]:
    """Yield the sweep at the paper's widths, on characters."""
    yield from _sweep(GPU_NET)


def paper_grid() -> Iterator[RawParams]:
    """Yield the paper's own sweep (Table 4): 306M tokens a trial."""
    yield from _sweep(PAPER_NET)


SMOKE_NET = gpt_shape(
    data="grammar-text", width=48, base_width=16, head_size=2, context=32, batch_size=8
) | decaying(20)
CPU_NET = gpt_shape(
    data="tinyshakespeare",
    width=768 // SHRINK,
    base_width=256 // SHRINK,
    head_size=64 // SHRINK,
    context=64,
    batch_size=8,
) | decaying(200)
GPU_NET = on_gpu(
    gpt_shape(
        data="tinyshakespeare", width=768, base_width=256, head_size=64, context=128, batch_size=4
    )
) | decaying(70)
PAPER_NET = paper_net(width=768, batch_size=128, micro_batches=8) | decaying(1169)


def _point(scheme: Scheme, density: float, k: int, seed: int, net: Point) -> Point:
    rate: Point = {"log2_lr": ETA_LOG2 + k}
    start = base_params(scheme, sp_init_std=PUBLISHED_SP_STD, base=TABLE_3)
    return swept(scheme, density, seed) | rate | start | net


def _sweep(net: Point) -> Iterator[Point]:
    for seed in range(3):
        for scheme in SCHEMES:
            for density, rung in ladder(net):
                for k in window(scheme, density, centre=CENTRES[scheme]):
                    yield _point(scheme, density, k, seed, rung)


experiment = gpt_experiment(
    "supar/iso_parameter",
    version=1,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    address=("scheme", "density", "width", "log2_lr", "seed"),
)
