"""Learning-rate sweeps under dynamic sparsity: Figure 12 (Table 4).

RigL and GMP as in the paper's footnotes 8 and 9; what these leave open is in the deviations. The
net at `cpu` and `gpu` is that of `lr_sweep`, whose dense runs are also those of both methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Literal, get_args

from harness.declare import Profile, doc, seeds_of
from reproductions.supar.method.parameterization import Scheme
from reproductions.supar.models.chosen import base_of
from reproductions.supar.models.gpt_experiment import gpt_experiment
from reproductions.supar.models.points import (
    CPU_DENSITIES,
    GPU_DENSITIES,
    PAPER,
    PAPER_DENSITIES,
    Net,
    RatePoint,
    decaying,
    point,
    rates,
)
from reproductions.supar.models.schemes import SCHEMES
from reproductions.supar.sweeps.experiment import RATE_NETS, dense_centre, sp_std_of

Method = Literal["rigl", "gmp"]
METHODS: tuple[Method, ...] = get_args(Method)
PAPER_INTERVAL, PAPER_STEPS = 100, 1169
PUBLISHED_SP_STD = 2.166e-2
"""Table 4: that of width 4096, although this row's width is 1024."""
BEHIND, AHEAD = 2, 1
"""Points of a window behind the dense optimum, and ahead of where theory lets it go, so that none
is on an edge."""
NETS: dict[Profile, Net] = {
    **RATE_NETS,
    "paper": decaying(replace(PAPER, width=1024, batch_size=128, micro_batches=8), PAPER_STEPS),
}
DENSITIES: dict[Profile, tuple[float, ...]] = {
    "smoke": (1 / 4,),
    "cpu": CPU_DENSITIES[-1:],
    "gpu": GPU_DENSITIES[-1:],
    "paper": PAPER_DENSITIES,
}
"""The dense net too at `paper`: `lr_sweep` has a wider one."""


class DynamicPoint(RatePoint):
    """One point of a sweep of learning rates under a method that changes masks."""

    method: Method = doc("rigl or gmp.")
    update_interval: int = doc("Steps from one update of the masks to the next.")
    drop_fraction: float = doc("Part of the active weights that RigL drops at first.")
    last_update: int = doc("Step at which updates end.")
    regrown_moments: Literal["zeroed", "kept"] = doc("What Adam knows of a weight that returns.")


def dynamic_window(scheme: Scheme, density: float, centre: int) -> range:
    """Return the swept points as k, equally many for every scheme at one density.

    With static masks theory lets the optimum of SP and muP rise by h = log2(1 / density). A net
    that is dense at first needs none of SmuPar's correction, so its optimum may fall by h.

    >>> [list(dynamic_window(scheme, 1 / 2, 0)) for scheme in ("mup", "supar")]
    [[-2, -1, 0, 1, 2], [-2, -1, 0, 1, 2]]
    """
    halvings = round(-math.log2(density))
    if scheme == "supar":
        return range(centre - halvings - AHEAD, centre + BEHIND + 1)
    return range(centre - BEHIND, centre + halvings + AHEAD + 1)


def grid(profile: Profile) -> Iterator[DynamicPoint]:
    """Yield the sweep under both methods; at `smoke` one learning rate, which shows the path."""

    def ks(scheme: Scheme, density: float) -> range:
        centre = dense_centre(profile, "sweep", scheme)
        smoke = range(centre, centre + 1)
        return smoke if profile == "smoke" else dynamic_window(scheme, density, centre)

    net = NETS[profile]
    rungs = [(density, net) for density in DENSITIES[profile]]
    sp_std = PUBLISHED_SP_STD if profile == "paper" else sp_std_of(profile, net)
    base = partial(base_of, profile)
    for seed, method in product(seeds_of(profile), METHODS):
        for rate in rates((seed,), SCHEMES, rungs, ks, sp_std=sp_std, base_of=base):
            # As many mask updates in a run as the paper has.
            yield point(
                DynamicPoint, rate, method=method, drop_fraction=0.3, regrown_moments="zeroed",
                update_interval=max(2, round(rate.steps * PAPER_INTERVAL / PAPER_STEPS)),
                last_update=round(0.75 * rate.steps),
            )  # fmt: skip


dynamic_sweep = gpt_experiment(
    "supar/dynamic_sweep",
    version=1,
    params=DynamicPoint,
    grid=grid,
    run=".dynamic.trial:train_dynamic",
    address=("method", "scheme", "density", "log2_lr", "seed"),
)
