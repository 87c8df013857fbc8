"""Learning-rate sweeps of the two half-way ablations: Figure 14.

Nets, windows and seeds are those of `lr_sweep`, so losses are paired with its. At density 1 both
ablations are muP, so only sparse nets run.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import RawParams
from reproductions.supar.models.gpt_experiment import SWEPT_LR, gpt_experiment
from reproductions.supar.models.points import (
    ABLATIONS,
    FEW_DENSITIES,
    GPU_DENSITIES,
    PAPER_DENSITIES,
)
from reproductions.supar.sweeps.lr_sweep import CPU_NET, GPU_NET, PAPER_NET, small_sweep, sweep


def smoke_grid() -> Iterator[RawParams]:
    """Yield three learning rates at one density: the path, not a result."""
    yield from small_sweep(ABLATIONS, (1 / 4,))


def cpu_grid() -> Iterator[RawParams]:
    """Yield the sweep at densities 1/4 and 1/16."""
    yield from sweep(ABLATIONS, FEW_DENSITIES[1:], CPU_NET)


def gpu_grid() -> Iterator[RawParams]:
    """Yield the sweep of the wider net."""
    yield from sweep(ABLATIONS, GPU_DENSITIES[1:], GPU_NET)


def paper_grid() -> Iterator[RawParams]:
    """Yield the paper's own sweep."""
    yield from sweep(ABLATIONS, PAPER_DENSITIES[1:], PAPER_NET)


experiment = gpt_experiment(
    "supar/lr_ablation",
    version=1,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    address=SWEPT_LR,
)
