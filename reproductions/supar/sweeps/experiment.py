"""Sweeps of the learning rate, and of the initial standard deviation (Table 4).

At `smoke`, `cpu` and `gpu` nets are like the authors' published one (learned positions, GELU,
characters); `paper` has the paper's (ALiBi, SwiGLU, byte pairs). Weight decay is 0 everywhere:
the paper does not say its own, and decay coupled to the learning rate would move optima.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from harness.declare import Profile
from reproductions.supar.method.parameterization import TABLE_3, Scheme
from reproductions.supar.models.costs import estimate_together
from reproductions.supar.models.gpt_experiment import RATES_TOGETHER, gpt_experiment
from reproductions.supar.models.points import (
    CPU_DENSITIES,
    FEW_DENSITIES,
    GPU_DENSITIES,
    MEDIUM,
    PAPER,
    PAPER_DENSITIES,
    PUBLISHED_SP_STD,
    SIGMA_LOG2,
    SMALL,
    SWEPT_RATE,
    Net,
    RatePoint,
    Rung,
    StdPoint,
    constant,
    decaying,
    rates,
    seeds_of,
    started,
    std_at_width,
    window,
)
from reproductions.supar.models.schemes import ABLATIONS, SCHEMES

Densities = Mapping[Profile, Sequence[float]]

RATE_CENTRES: dict[Scheme, int] = {
    "sp": -4,
    "mup": 0,
    "supar": 0,
    "mup_init_only": 0,
    "mup_lr_only": 0,
}
"""k of the best dense learning rate in `dense_pilot`, family `sweep`; all but SP are muP there."""
STD_CENTRES: dict[Scheme, int] = dict.fromkeys(RATE_CENTRES, 1)
"""k of the best dense standard deviation in `dense_pilot`, family `sigma`."""
PAPER_STD_CENTRES: dict[Scheme, int] = {**dict.fromkeys(RATE_CENTRES, 0), "sp": -2}
"""The middle of Figure 7's axes: what is best for small nets on characters need not be there."""
LADDER_CENTRES: dict[Scheme, int] = {"sp": -2, "mup": 1, "supar": 1}
"""k of the best dense learning rate in `dense_pilot`, family `iso_parameter`."""
NEURON_CENTRE = -2
"""The same of family `iso_neuron`, SP alone."""

RATE_NETS: dict[Profile, Net] = {
    "smoke": SMALL,
    "cpu": decaying(MEDIUM, 200),
    "gpu": decaying(replace(MEDIUM, device="cuda", width=512, base_width=128, context=128), 120),
    "paper": decaying(replace(PAPER, width=4096, batch_size=128, micro_batches=16), 1169),
}
STD_NETS: dict[Profile, Net] = {
    "smoke": constant(SMALL, 15, clip_norm=1.0),
    "cpu": constant(RATE_NETS["cpu"], 100, clip_norm=1.0),
    "gpu": constant(RATE_NETS["gpu"], 40, clip_norm=1.0),
    "paper": constant(replace(PAPER, width=4096), 100, clip_norm=1.0),
}
"""Short runs: the paper looks at the early loss, since extreme starts diverge later."""
_LADDER_GPU = replace(
    MEDIUM, device="cuda", width=768, base_width=256, head_size=64, context=128, batch_size=4
)
SHRINK = 8
LADDER_NETS: dict[Profile, Net] = {
    "smoke": replace(SMALL, width=48, base_width=16, head_size=2),
    "cpu": decaying(
        replace(MEDIUM, width=768 // SHRINK, base_width=256 // SHRINK, head_size=64 // SHRINK), 200
    ),
    "gpu": decaying(_LADDER_GPU, 70),
    "paper": decaying(replace(PAPER, width=768, batch_size=128, micro_batches=8), 1169),
}
"""The cpu ladder is the paper's at an eighth of its size: widths, base width and heads, so width
and density multipliers are the paper's own."""
NEURON_NETS: dict[Profile, Net] = {
    "smoke": replace(SMALL, width=32, head_size=16),
    "cpu": decaying(replace(MEDIUM, width=64), 200),
    "gpu": decaying(replace(_LADDER_GPU, width=256, batch_size=8), 150),
    "paper": decaying(replace(PAPER, width=256, batch_size=128, micro_batches=8), 1169),
}
"""The dense net of each ladder."""

ALL_DENSITIES: Densities = {
    "smoke": (1.0, 1 / 4),
    "cpu": CPU_DENSITIES,
    "gpu": GPU_DENSITIES,
    "paper": PAPER_DENSITIES,
}
SOME_DENSITIES: Densities = {**ALL_DENSITIES, "cpu": FEW_DENSITIES}
PAPER_LADDER = ((1.0, 768), (1 / 2, 1088), (1 / 4, 1536), (1 / 8, 2176))
"""Density and width; density * width^2 is constant to 0.4 %."""
NEURON_DENSITIES = (1.0, 1 / 2, 1 / 4, 1 / 8)
"""Widths are the first one's over these: width * density is constant."""


def round_centre(
    profile: Profile, centres: Mapping[Scheme, int], scheme: Scheme, density: float
) -> range:
    """Return the swept k: a window round the dense optimum, at `smoke` three points."""
    centre = centres[scheme]
    if profile == "smoke":
        return range(centre - 1, centre + 2)
    return window(scheme, density, centre=centre)


def lr_grid(
    profile: Profile,
    schemes: Sequence[Scheme] = SCHEMES,
    densities: Densities = ALL_DENSITIES,
) -> Iterator[RatePoint]:
    """Yield the sweep of the three schemes; at `paper` 306M tokens per trial."""
    net = RATE_NETS[profile]
    rungs = [(density, net) for density in densities[profile]]
    ks = partial(round_centre, profile, RATE_CENTRES)
    yield from rates(seeds_of(profile), schemes, rungs, ks, sp_std=std_at_width(net))


def ablation_grid(profile: Profile) -> Iterator[RatePoint]:
    """Yield the sweep of the two half-way ablations, paired with `lr_grid`.

    At density 1 both are muP, so only sparse nets run.
    """
    swept = lr_grid(profile, ABLATIONS, SOME_DENSITIES)
    yield from (rate for rate in swept if rate.density < 1.0)


def sigma_grid(profile: Profile) -> Iterator[StdPoint]:
    """Yield the sweep of the standard deviation of all five; at `paper` 1.6M tokens per trial.

    The windows at `cpu` are longer downward by one step per halving of the density, for every
    scheme: in the first run, which had `window` alone, the best starts of SP and muP at density
    1/16 lay on the lower end.
    """
    centres = PAPER_STD_CENTRES if profile == "paper" else STD_CENTRES
    schemes = (*SCHEMES, *ABLATIONS)
    for seed, scheme, density in product(seeds_of(profile), schemes, SOME_DENSITIES[profile]):
        if density < 1.0 or scheme in SCHEMES:
            ks = round_centre(profile, centres, scheme, density)
            below = math.ceil(-math.log2(density)) if profile == "cpu" else 0
            for k in range(ks[0] - below, ks[-1] + 1):
                net, sigma = STD_NETS[profile], SIGMA_LOG2 + k
                yield started(StdPoint, net, scheme, density, seed, log2_sigma=sigma)


def ladder(net: Net, profile: Profile) -> list[Rung]:
    """Return the rungs of equal hidden weights, scaled as the base width; two at `smoke`."""
    widths = [(density, width * net.base_width // 256) for density, width in PAPER_LADDER]
    rungs = [(density, replace(net, width=width)) for density, width in widths]
    return rungs[:2] if profile == "smoke" else rungs


def iso_parameter_grid(profile: Profile) -> Iterator[RatePoint]:
    """Yield the sweep on a ladder of equal hidden weights."""
    rungs = ladder(LADDER_NETS[profile], profile)
    ks = partial(round_centre, profile, LADDER_CENTRES)
    yield from rates(seeds_of(profile), SCHEMES, rungs, ks, sp_std=PUBLISHED_SP_STD)


def iso_neuron_grid(profile: Profile) -> Iterator[RatePoint]:
    """Yield SP's sweep on a ladder of equal weights per neuron; its first two rungs at `smoke`."""
    # The same window everywhere: it should not matter which rung it is.
    reach = 1 if profile == "smoke" else 4
    ks = range(NEURON_CENTRE - reach, NEURON_CENTRE + reach + 1)
    dense = NEURON_NETS[profile]
    densities = NEURON_DENSITIES[: 2 if profile == "smoke" else None]
    rungs = [(d, replace(dense, width=round(dense.width / d))) for d in densities]
    sp_std = TABLE_3.init_std
    yield from rates(seeds_of(profile), ("sp",), rungs, lambda *_: ks, sp_std=sp_std)


_stacked_rates = partial(
    gpt_experiment,
    params=RatePoint,
    address=SWEPT_RATE,
    estimate=estimate_together,
    together=RATES_TOGETHER,
)
lr_sweep = _stacked_rates("supar/lr_sweep", version=2, grid=lr_grid)
lr_ablation = _stacked_rates("supar/lr_ablation", version=1, grid=ablation_grid)
sigma_sweep = gpt_experiment(
    "supar/sigma_sweep",
    version=1,
    params=StdPoint,
    grid=sigma_grid,
    address=("scheme", "density", "log2_sigma", "seed"),
)
iso_parameter = gpt_experiment(
    "supar/iso_parameter",
    version=1,
    params=RatePoint,
    grid=iso_parameter_grid,
    address=("scheme", "density", "width", "log2_lr", "seed"),
)
iso_neuron = gpt_experiment(
    "supar/iso_neuron",
    version=1,
    params=RatePoint,
    grid=iso_neuron_grid,
    address=("density", "width", "log2_lr", "seed"),
)
