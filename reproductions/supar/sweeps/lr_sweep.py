"""Learning-rate sweeps over sparsity: Figures 1, 6 and 8 (Table 4, first row).

At `smoke`, `cpu` and `gpu` the net is the authors' published one (learned positions, GELU,
characters); `paper` has the paper's (ALiBi, SwiGLU, byte pairs). Weight decay is 0 everywhere:
the paper does not say its own, and decay coupled to the learning rate would move optima.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.declare.experiment import RawParams
from reproductions.supar.method.base_hyperparameters import TABLE_3
from reproductions.supar.method.parameterization import Scheme
from reproductions.supar.models.gpt_experiment import SWEPT_LR, gpt_experiment
from reproductions.supar.models.points import (
    CPU_DENSITIES,
    ETA_LOG2,
    GPU_DENSITIES,
    PAPER_DENSITIES,
    SCHEMES,
    Point,
    base_params,
    decaying,
    gpt_shape,
    lr_points,
    on_gpu,
    paper_net,
    std_at_width,
    swept,
)

CENTRES: dict[Scheme, int] = {
    "sp": -4,
    "mup": 0,
    "supar": 0,
    "mup_init_only": 0,
    "mup_lr_only": 0,
}
"""k of the best dense learning rate in `dense_pilot`, family `sweep`; all but SP are muP there."""


def smoke_grid() -> Iterator[RawParams]:
    """Yield three learning rates at two densities: the path, not a result."""
    yield from small_sweep(SCHEMES, (1.0, 1 / 4))


def small_sweep(
    schemes: Sequence[Scheme], densities: Sequence[float], *, ks: Sequence[int] = (-1, 0, 1)
) -> Iterator[Point]:
    """Yield learning rates round each scheme's dense centre for a net of width 64."""
    shape = gpt_shape(data="grammar-text", width=64, base_width=32, context=32, batch_size=8)
    for scheme in schemes:
        for density in densities:
            for k in ks:
                rate = {"log2_lr": ETA_LOG2 + CENTRES[scheme] + k}
                yield swept(scheme, density, 0) | rate | _rest(scheme, shape | decaying(20))


def cpu_grid() -> Iterator[RawParams]:
    """Yield the sweep of a net of width 256 on tiny Shakespeare."""
    yield from sweep(SCHEMES, CPU_DENSITIES, CPU_NET)


def gpu_grid() -> Iterator[RawParams]:
    """Yield the sweep of a net of width 1024 down to density 1/64, sized for one H200."""
    yield from sweep(SCHEMES, GPU_DENSITIES, GPU_NET)


def paper_grid() -> Iterator[RawParams]:
    """Yield the paper's own sweep (Table 4): 306M tokens a trial."""
    yield from sweep(SCHEMES, PAPER_DENSITIES, PAPER_NET)


CPU_NET = gpt_shape(
    data="tinyshakespeare", width=256, base_width=64, context=64, batch_size=8
) | decaying(200)
GPU_NET = on_gpu(
    gpt_shape(data="tinyshakespeare", width=1024, base_width=128, context=128, batch_size=8)
) | decaying(120)
PAPER_NET = paper_net(width=4096, batch_size=128, micro_batches=16) | decaying(1169)


def sweep(schemes: Sequence[Scheme], densities: Sequence[float], net: Point) -> Iterator[Point]:
    """Yield a net's sweep of schemes over densities, three seeds."""
    # Seeds outermost: an interrupted sweep leaves whole curves behind.
    for seed in range(3):
        for scheme, point in lr_points(schemes, densities, centres=CENTRES, seed=seed):
            yield point | _rest(scheme, net)


def _rest(scheme: Scheme, net: Point) -> Point:
    return base_params(scheme, sp_init_std=std_at_width(net), base=TABLE_3) | net


experiment = gpt_experiment(
    "supar/lr_sweep",
    version=2,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    address=SWEPT_LR,
)
