"""What settings of `cpu` rest on, at the seeds of pilots.

`pilot_search` looks for base hyperparameters on the small dense proxy, as the paper did: equally
many random configurations for SP and for muP, which SmuPar and the ablations are at density 1.
`pilot_curves` looks where the dense optima of the swept nets lie. No sparse net is among them, so
no window knows where a sparse optimum lies. `pilot_trials` trains nets of the run as they are, to
see what they cost, and what dense training does from seed to seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from harness.declare import PILOT_SEEDS, Profile, doc
from reproductions.supar.method.parameterization import BaseHyperparameters, Scheme
from reproductions.supar.models.chosen import Family, base_of, sp_std_at
from reproductions.supar.models.gpt_experiment import gpt_experiment
from reproductions.supar.models.points import (
    PROXY,
    SIGMA_LOG2,
    FixedPoint,
    Net,
    RatePoint,
    StdPoint,
    point,
    rates,
    started,
)
from reproductions.supar.sweeps.experiment import (
    LADDER_NETS,
    NEURON_NETS,
    RATE_NETS,
    STD_NETS,
    std_base_of,
)
from reproductions.supar.transfer.experiment import DEEP_NETS, NETS, deep_grid, transfer_grid

DENSE: tuple[Scheme, ...] = ("sp", "mup")
NUM_CONFIGURATIONS = 60
RANGES = {
    "init_std": (-6.0, 0.0),
    "lr": (-11.0, -4.0),
    "input_multiplier": (0.0, 5.0),
    "output_multiplier": (-2.0, 3.0),
}
"""As log2, between which configurations are drawn uniformly, to a quarter of an octave."""
RATES: dict[Scheme, range] = {"sp": range(-6, 2), "mup": range(-5, 3)}
"""k tried."""
STANDARD_DEVIATIONS = range(-4, 4)


class PilotRate(RatePoint):
    """A dense net at one learning rate."""

    family: Family = doc("Whose windows it centres.")


class PilotStd(StdPoint):
    """A dense net at one initial standard deviation."""

    family: Family = doc("Whose windows it centres.")


def configurations(scheme: Scheme) -> list[BaseHyperparameters]:
    """Return random base hyperparameters, the same ones each time; SP has no multipliers."""
    stream = random.Random(f"proxy of {scheme}")
    found: list[BaseHyperparameters] = []
    while len(found) < NUM_CONFIGURATIONS:
        drawn = {
            name: 2.0 ** (round(4 * stream.uniform(*between)) / 4)
            for name, between in RANGES.items()
        }
        if scheme == "sp":
            drawn |= {"input_multiplier": 1.0, "output_multiplier": 1.0}
        base = BaseHyperparameters(**drawn)
        if base not in found:
            found.append(base)
    return found


def search_grid(profile: Profile) -> Iterator[FixedPoint]:
    """Yield every configuration of both schemes; two at `smoke`."""
    if profile not in ("smoke", "cpu"):
        return
    smoke = replace(PROXY, data="grammar-text", steps=20, warmup_steps=2)
    for seed, scheme in product(PILOT_SEEDS[: 1 if profile == "smoke" else 2], DENSE):
        tried = configurations(scheme)
        for base in tried[:1] if profile == "smoke" else tried:
            net = smoke if profile == "smoke" else PROXY
            yield started(FixedPoint, net, scheme, 1.0, seed, base=base)


def _rates(
    profile: Profile, family: Family, schemes: Sequence[Scheme], net: Net, seeds: Sequence[int]
) -> Iterator[PilotRate]:
    swept = rates(
        seeds, schemes, ((1.0, net),), lambda scheme, _: RATES[scheme], sp_std=sp_std_at(net),
        base_of=lambda scheme: base_of(profile, scheme),
    )  # fmt: skip
    for dense in swept:
        yield point(PilotRate, dense, family=family)


def _starts(schemes: Sequence[Scheme], seeds: Sequence[int]) -> Iterator[PilotStd]:
    for seed, scheme, k in product(seeds, schemes, STANDARD_DEVIATIONS):
        base, sigma = std_base_of("cpu", scheme), SIGMA_LOG2 + k
        net = STD_NETS["cpu"]
        yield started(PilotStd, net, scheme, 1.0, seed, base=base, log2_sigma=sigma, family="sigma")


def curves_grid(profile: Profile) -> Iterator[PilotRate | PilotStd]:
    """Yield every family of dense nets that a cpu sweep needs centred."""
    match profile:
        case "smoke":
            smoke = _rates(profile, "sweep", ("sp",), RATE_NETS["smoke"], PILOT_SEEDS[:1])
            yield from list(smoke)[-2:]
        case "cpu":
            seeds, once = PILOT_SEEDS[:2], PILOT_SEEDS[:1]
            yield from _rates(profile, "sweep", DENSE, RATE_NETS["cpu"], seeds)
            yield from _rates(profile, "iso_parameter", DENSE, LADDER_NETS["cpu"], seeds)
            yield from _rates(profile, "iso_neuron", ("sp",), NEURON_NETS["cpu"], seeds)
            yield from _rates(profile, "fixed", ("sp",), DEEP_NETS["cpu"], seeds)
            yield from _rates(profile, "transfer", ("sp",), NETS["cpu"], once)
            yield from _starts(DENSE, seeds)


def trials_grid(profile: Profile) -> Iterator[FixedPoint]:
    """Yield the dense nets of Figure 3 at five seeds, and a deep net; one net at `smoke`."""
    nets = [net for net in transfer_grid(profile) if net.density == 1.0 and net.scheme != "supar"]
    first = [net for net in nets if net.seed == nets[0].seed]
    match profile:
        case "smoke":
            yield replace(first[0], seed=PILOT_SEEDS[0])
        case "cpu":
            for seed, net in product(PILOT_SEEDS[:5], first):
                yield replace(net, seed=seed)
            deepest = list(deep_grid(profile))[-1]
            yield replace(deepest, seed=PILOT_SEEDS[0])


pilot_search = gpt_experiment(
    "supar/pilot_search",
    version=1,
    params=FixedPoint,
    grid=search_grid,
    address=("scheme", "init_std", "lr", "input_multiplier", "output_multiplier", "seed"),
)
pilot_curves = gpt_experiment(
    "supar/pilot_curves",
    version=1,
    params=(PilotRate, PilotStd),
    grid=curves_grid,
    address=("family", "scheme", "log2_lr", "log2_sigma", "seed"),
)
pilot_trials = gpt_experiment(
    "supar/pilot_trials",
    version=1,
    params=FixedPoint,
    grid=trials_grid,
    address=("scheme", "density", "width", "seed"),
)
