"""The coordinate check of Figure 5: activations over density in the first ten steps.

Base hyperparameters are those of Figure 5's row in Table 4, sigma_base for SP too. Masks are
Bernoulli, as in the authors' code, whose plot is the only published one with readable values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.task import DryRun, Estimate, Experiment, Needs, Outcome, Params, RunContext, Scalar
from reproductions.supar.base import FIGURE_5
from reproductions.supar.experiments.lr_sweep import (
    CPU_DENSITIES,
    CPU_FLOPS_PER_S,
    GPU_FLOPS_PER_S,
    GPU_WIDTH,
    SCHEMES,
)

if TYPE_CHECKING:
    from reproductions.supar.parameterization import Parameterization
    from reproductions.supar.training import Settings
