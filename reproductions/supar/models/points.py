"""What the grids of all training experiments are made of. No torch.

A trial's parameters say everything its run depends on, so a record needs no code to be read: the
net, the data, the schedule, the base hyperparameters as this scheme has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from harness.declare.params import Scalar
from reproductions.supar.method.base_hyperparameters import TABLE_3
from reproductions.supar.method.parameterization import BaseHyperparameters, Scheme

Point = dict[str, Scalar]

ETA_LOG2 = math.log2(TABLE_3.lr)
"""Every sweep of learning rates stands on the lattice ETA_LOG2 + k, k whole, as the paper's do."""
SIGMA_LOG2 = math.log2(TABLE_3.init_std)
"""The same for sweeps of the initial standard deviation."""
SCHEMES: tuple[Scheme, ...] = ("sp", "mup", "supar")
ABLATIONS: tuple[Scheme, ...] = ("mup_init_only", "mup_lr_only")
CPU_DENSITIES = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)
FEW_DENSITIES = (1.0, 1 / 4, 1 / 16)
GPU_DENSITIES = (1.0, 1 / 8, 1 / 64)
PAPER_DENSITIES = tuple(2.0**-halvings for halvings in range(7))
PUBLISHED_SP_STD = 0.02
"""Table 4, SP in the rows of Figures 3, 9 and 10, at every width."""


def gpt_shape(
    *,
    data: str,
    width: int,
    base_width: int,
    context: int,
    batch_size: int,
    micro_batches: int = 1,
    num_layers: int = 2,
    head_size: int = 32,
) -> Point:
    """Return the parameters of a net like the authors' published one, on a CPU."""
    return {
        "device": "cpu",
        "data": data,
        "tokenizer": "characters",
        "width": width,
        "base_width": base_width,
        "num_layers": num_layers,
        "head_size": head_size,
        "feed_forward": "gelu",
        "positions": "learned",
        "context": context,
        "batch_size": batch_size,
        "micro_batches": micro_batches,
    }


def paper_net(
    *, width: int, batch_size: int, micro_batches: int, num_layers: int = 2, head_size: int = 64
) -> Point:
    """Return the parameters of a net as the paper's: ALiBi, SwiGLU, byte pairs, SlimPajama."""
    shape = gpt_shape(
        data="slimpajama",
        width=width,
        base_width=256,
        context=2048,
        batch_size=batch_size,
        micro_batches=micro_batches,
        num_layers=num_layers,
        head_size=head_size,
    )
    net = {"tokenizer": "gpt2", "feed_forward": "swiglu", "positions": "alibi"}
    return on_gpu(shape | net)


def on_gpu(shape: Point) -> Point:
    """Return the same net for one GPU."""
    return shape | {"device": "cuda"}


def decaying(steps: int, *, schedule: str = "to_tenth") -> Point:
    """Return a schedule with a tenth of the steps as warm-up, and gradients clipped at norm 1."""
    return {
        "steps": steps,
        "warmup_steps": steps // 10,
        "schedule": schedule,
        "clip_norm": 1.0,
    }


def constant(steps: int, *, clip_norm: float) -> Point:
    """Return a constant learning rate without warm-up; a clip_norm of 0 clips nothing."""
    return {"steps": steps, "warmup_steps": 0, "schedule": "constant", "clip_norm": clip_norm}


def base_params(scheme: Scheme, *, sp_init_std: float, base: BaseHyperparameters) -> Point:
    """Return what a scheme starts from but its learning rate.

    sp_init_std: SP has no width rule of its own; Table 4 hands it one standard deviation for all
    matrices, another one in almost every row.
    """
    return {
        "init_std": sp_init_std if scheme == "sp" else base.init_std,
        "input_multiplier": base.input_multiplier,
        "output_multiplier": base.output_multiplier,
    }


def std_at_width(shape: Point, base: BaseHyperparameters = TABLE_3) -> float:
    """Return sigma_base / sqrt(m_d), which is how Table 4's 2.166e-2 of SP comes about."""
    return base.init_std / math.sqrt(float(shape["width"]) / float(shape["base_width"]))


def window(scheme: Scheme, density: float, *, centre: int) -> list[int]:
    """Return the swept points of a scheme at a density as k on the lattice.

    Every scheme tries equally many at one density: 8 dense, 10 at density 1/16. Theory lets the
    optimum of SP, muP and the ablations rise by up to h = log2(1 / density), so their window's
    upper end rises by h, and its lower end by half of that, which keeps the dense optimum inside.
    That of SmuPar should not move, so its window grows on both sides.

    centre: k of the best dense point, from `dense_pilot`: dense nets alone, at a seed that no
    sweep uses.

    >>> window("supar", 1.0, centre=0)
    [-4, -3, -2, -1, 0, 1, 2, 3]
    >>> [len(window(scheme, 1 / 16, centre=0)) for scheme in ("sp", "mup", "supar")]
    [10, 10, 10]
    """
    halvings = math.ceil(-math.log2(density))
    low, high = centre - 4 + math.ceil(halvings / 2), centre + 4 + halvings
    if scheme == "supar":
        extra = high - low - 8
        low, high = centre - 4 - extra // 2, centre + 4 + math.ceil(extra / 2)
    return list(range(low, high))


def lr_points(
    schemes: Sequence[Scheme],
    densities: Sequence[float],
    *,
    centres: dict[Scheme, int],
    seed: int,
) -> Iterator[tuple[Scheme, Point]]:
    """Yield scheme, density, learning rate and seed over the windows of schemes."""
    for scheme in schemes:
        for density in densities:
            for k in window(scheme, density, centre=centres[scheme]):
                yield scheme, swept(scheme, density, seed) | {"log2_lr": ETA_LOG2 + k}


def swept(scheme: Scheme, density: float, seed: int) -> Point:
    """Return the parameters that every point of a sweep begins with."""
    return {"scheme": scheme, "density": density, "seed": seed}
