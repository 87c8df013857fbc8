"""The coordinate check of Figure 5: activations over density in the first ten steps.

Base hyperparameters are those of Figure 5's row in Table 4. Masks are Bernoulli, as in the
authors' code, whose plot is the only published one with readable values. Beyond the paper each
layer has a row of its own, with the size of its updates and of the gradient at its input.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from harness.declare import Estimate, Profile, seeds_of
from reproductions.supar.method.parameterization import FIGURE_5
from reproductions.supar.models.costs import estimate_of
from reproductions.supar.models.gpt_experiment import gpt_experiment
from reproductions.supar.models.points import (
    MEDIUM,
    PAPER,
    SMALL,
    FixedPoint,
    Net,
    constant,
    started,
)
from reproductions.supar.models.schemes import SCHEMES

NUM_SEEDS = 10
DENSITIES = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)
_SHORT = constant(replace(MEDIUM, base_width=256, batch_size=4), 10, clip_norm=0.0)
NETS: dict[Profile, Net] = {
    "smoke": constant(replace(SMALL, batch_size=4), 10, clip_norm=0.0),
    # The widest that takes about ten core-minutes.
    "cpu": replace(_SHORT, data="kjv", width=512),
    # The paper's shape on characters, at the authors' context.
    "gpu": replace(_SHORT, device="cuda", width=2048, context=1024),
    "paper": constant(replace(PAPER, width=2048, batch_size=4, head_size=32), 10, clip_norm=0.0),
}


def grid(profile: Profile) -> Iterator[FixedPoint]:
    """Yield the three schemes over densities; at `paper` 82k tokens per trial."""
    densities = (1.0, 1 / 4) if profile == "smoke" else DENSITIES
    for seed, scheme, density in product(seeds_of(profile, NUM_SEEDS), SCHEMES, densities):
        # For this figure Table 4 gives SP the same standard deviation as the others.
        yield started(FixedPoint, NETS[profile], scheme, density, seed, base=FIGURE_5)


def estimate(params: FixedPoint) -> Estimate:
    """Return what a trial costs: each update is followed by a second forward pass.

    On a CPU reading the activations takes about as long as all four passes (committed records).
    """
    return estimate_of(params, num_passes=8.0 if params.device == "cpu" else 4.0)


coordinate_check = gpt_experiment(
    "supar/coordinate_check",
    version=2,
    params=FixedPoint,
    grid=grid,
    run=".coordinates.trial:measure_layers",
    estimate=estimate,
    address=("scheme", "density", "seed"),
)
