"""Sweeps of the learning rate, and of the initial standard deviation (Table 4).

At `smoke` and `gpu` nets are like the authors' published one (learned positions, GELU,
characters); `cpu` has the paper's blocks (ALiBi, SwiGLU) on bytes, and base hyperparameters found
on a proxy of its own; `paper` has the paper's nets and numbers. Weight decay is 0 everywhere: the
paper does not say its own, and decay coupled to the learning rate would move optima.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from harness.declare import FRESH_SEED, Profile, seeds_of
from reproductions.supar.method.parameterization import TABLE_3, BaseHyperparameters, Scheme
from reproductions.supar.models.chosen import (
    Family,
    base_of,
    best_rate,
    centre_of,
    sp_std_at,
)
from reproductions.supar.models.costs import estimate_together
from reproductions.supar.models.gpt_experiment import RATES_TOGETHER, gpt_experiment
from reproductions.supar.models.points import (
    BIBLE,
    CPU_DENSITIES,
    CPU_STEPS,
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
    narrow_window,
    rates,
    started,
    std_at_width,
    window,
)
from reproductions.supar.models.schemes import ABLATIONS, SCHEMES

Densities = Mapping[Profile, Sequence[float]]

CENTRES: dict[Family, tuple[int, int]] = {
    "sweep": (-4, 0),
    "sigma": (1, 1),
    "iso_parameter": (-2, 1),
    "iso_neuron": (-2, 0),
}
"""k of the best value of dense nets of under two million weights with Table 3's base
hyperparameters: under SP, and under all others, which are muP there. At `cpu` pilots have centres
of their own."""
PAPER_STD_CENTRES = (-2, 0)
"""The middle of Figure 7's axes: what is best for small nets on characters need not be there."""

RATE_NETS: dict[Profile, Net] = {
    "smoke": SMALL,
    "cpu": decaying(BIBLE, CPU_STEPS),
    "gpu": decaying(replace(MEDIUM, device="cuda", width=512, base_width=128), 110),
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
LADDER_NETS: dict[Profile, Net] = {
    "smoke": replace(SMALL, width=48, base_width=16, head_size=2),
    "cpu": decaying(replace(BIBLE, width=48, head_size=4), CPU_STEPS),
    "gpu": decaying(_LADDER_GPU, 70),
    "paper": decaying(replace(PAPER, width=768, batch_size=128, micro_batches=8), 1169),
}
"""The cpu ladder is the paper's at a sixteenth of its widths and heads; the proxy is that of all
cpu nets, an eighth of the paper's, so width multipliers are half the paper's."""
NEURON_NETS: dict[Profile, Net] = {
    "smoke": replace(SMALL, width=32, head_size=16),
    "cpu": decaying(replace(BIBLE, width=16), CPU_STEPS),
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
ABLATED_DENSITIES: Densities = {**ALL_DENSITIES, "cpu": (1.0, CPU_DENSITIES[-1])}
NUM_ABLATION_SEEDS, NUM_LADDER_SEEDS = 12, 14
"""At `cpu`, where five left open how far SmuPar's rate alone moves the optimum, and SP the one of
equal weights."""
PAPER_LADDER = ((1.0, 768), (1 / 2, 1088), (1 / 4, 1536), (1 / 8, 2176))
"""Density and width; density * width^2 is constant to 0.4 %."""
NEURON_DENSITIES = (1.0, 1 / 2, 1 / 4, 1 / 8)
"""Widths are the first one's over these: width * density is constant."""


def dense_centre(profile: Profile, family: Family, scheme: Scheme) -> int:
    """Return where the optimum of a family's dense nets lies, as k: at `cpu` by its pilot."""
    if profile == "cpu":
        return centre_of(family, scheme)
    of_paper = (profile, family) == ("paper", "sigma")
    of_sp, of_others = PAPER_STD_CENTRES if of_paper else CENTRES[family]
    return of_sp if scheme == "sp" else of_others


def swept_ks(profile: Profile, family: Family, scheme: Scheme, density: float) -> range:
    """Return the swept k: a window round the dense optimum, at `smoke` three points."""
    centre = dense_centre(profile, family, scheme)
    if profile == "smoke":
        return range(centre - 1, centre + 2)
    return (narrow_window if profile == "cpu" else window)(scheme, density, centre=centre)


def num_seeds(profile: Profile) -> int:
    """Return how many seeds a sweep has where five would take a card more than eight minutes.

    Three decide nothing there; `--seeds 5` gives enough.
    """
    return 3 if profile == "gpu" else 5


def sp_std_of(profile: Profile, net: Net) -> float:
    """Return SP's standard deviation where it follows the width: its base's over root m_d."""
    return sp_std_at(net) if profile == "cpu" else std_at_width(net)


def lr_grid(
    profile: Profile,
    schemes: Sequence[Scheme] = SCHEMES,
    densities: Densities = ALL_DENSITIES,
    seeds: Sequence[int] = (),
) -> Iterator[RatePoint]:
    """Yield the sweep of the three schemes; at `paper` 306M tokens per trial."""
    net = RATE_NETS[profile]
    rungs = [(density, net) for density in densities[profile]]
    ks = partial(swept_ks, profile, "sweep")
    seeds = seeds or seeds_of(profile)
    sp_std, base = sp_std_of(profile, net), partial(base_of, profile)
    yield from rates(seeds, schemes, rungs, ks, sp_std=sp_std, base_of=base)


def ablation_grid(profile: Profile) -> Iterator[RatePoint]:
    """Yield the sweep of the two half-way ablations and of SmuPar, on seeds of their own.

    At density 1 both ablations are muP, so muP stands for them there.
    """
    seeds = seeds_of(profile, NUM_ABLATION_SEEDS if profile == "cpu" else 5, first=FRESH_SEED)
    for rate in lr_grid(profile, ("mup", *ABLATIONS, "supar"), ABLATED_DENSITIES, seeds):
        if rate.scheme == "supar" or (rate.scheme == "mup") == (rate.density == 1.0):
            yield rate


def std_base_of(profile: Profile, scheme: Scheme) -> BaseHyperparameters:
    """Return the base hyperparameters where the standard deviation is swept.

    At `cpu` SP's learning rate is its dense net's best one, since no rule takes it to this width.
    """
    base = base_of(profile, scheme)
    of_pilot = profile == "cpu" and scheme == "sp"
    return replace(base, lr=best_rate("sweep")) if of_pilot else base


def sigma_grid(profile: Profile) -> Iterator[StdPoint]:
    """Yield the sweep of the standard deviation of all five; at `paper` 1.6M tokens per trial."""
    net, seeds = STD_NETS[profile], seeds_of(profile, num_seeds(profile))
    for seed, scheme in product(seeds, (*SCHEMES, *ABLATIONS)):
        base = std_base_of(profile, scheme)
        densities = (ALL_DENSITIES if scheme in SCHEMES else ABLATED_DENSITIES)[profile]
        for density in densities:
            if density < 1.0 or scheme in SCHEMES:
                for k in std_ks(profile, scheme, density):
                    sigma = SIGMA_LOG2 + k
                    yield started(StdPoint, net, scheme, density, seed, base=base, log2_sigma=sigma)


def std_ks(profile: Profile, scheme: Scheme, density: float) -> range:
    """Return the swept k: at `cpu` as far to both sides, for nothing says where optima go."""
    if profile != "cpu":
        return swept_ks(profile, "sigma", scheme, density)
    centre, reach = centre_of("sigma", scheme), 4 if density == CPU_DENSITIES[-1] else 3
    return range(centre - reach, centre + reach + 1)


def ladder(net: Net, profile: Profile) -> list[Rung]:
    """Return the paper's rungs of equal hidden weights, scaled to a dense net; two at `smoke`."""
    first = PAPER_LADDER[0][1]
    widths = [(density, width * net.width // first) for density, width in PAPER_LADDER]
    rungs = [(density, replace(net, width=width)) for density, width in widths]
    return rungs[:2] if profile == "smoke" else rungs


def iso_parameter_grid(profile: Profile) -> Iterator[RatePoint]:
    """Yield the sweep on a ladder of equal hidden weights.

    Weights per neuron halve with every second halving of the density, and so do the windows at
    `cpu` grow.
    """

    def ks(scheme: Scheme, density: float) -> range:
        if profile != "cpu":
            return swept_ks(profile, "iso_parameter", scheme, density)
        rise = math.ceil(-math.log2(density) / 2)
        return narrow_window(scheme, density, centre=centre_of("iso_parameter", scheme), rise=rise)

    dense, seeds = LADDER_NETS[profile], seeds_of(profile, num_seeds(profile))
    if profile == "cpu":
        seeds = seeds_of(profile, NUM_LADDER_SEEDS, first=FRESH_SEED)
    sp_std = sp_std_at(dense) if profile == "cpu" else PUBLISHED_SP_STD
    base = partial(base_of, profile)
    yield from rates(seeds, SCHEMES, ladder(dense, profile), ks, sp_std=sp_std, base_of=base)


def iso_neuron_grid(profile: Profile) -> Iterator[RatePoint]:
    """Yield SP's sweep on a ladder of equal weights per neuron; its first two rungs at `smoke`."""
    centre = dense_centre(profile, "iso_neuron", "sp")
    # The same window everywhere: it should not matter which rung it is.
    reach = {"smoke": 1, "cpu": 3}.get(profile, 4)
    ks = range(centre - reach, centre + reach + 1)
    dense = NEURON_NETS[profile]
    densities = NEURON_DENSITIES[: 2 if profile == "smoke" else None]
    rungs = [(d, replace(dense, width=round(dense.width / d))) for d in densities]
    sp_std = sp_std_at(dense) if profile == "cpu" else TABLE_3.init_std
    seeds = seeds_of(profile)
    base = partial(base_of, profile)
    yield from rates(seeds, ("sp",), rungs, lambda *_: ks, sp_std=sp_std, base_of=base)


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
