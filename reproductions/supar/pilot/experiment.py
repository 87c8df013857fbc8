"""Pilots on dense nets alone, which centre the windows of every sweep.

At seed 1000, which no sweep uses. No sparse net is looked at, so no window knows where a sparse
optimum lies. SmuPar and both ablations are muP at density 1, so only SP and muP run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from harness.declare import Profile, doc
from reproductions.supar.method.parameterization import TABLE_3, Scheme
from reproductions.supar.models.gpt_experiment import gpt_experiment
from reproductions.supar.models.points import (
    PUBLISHED_SP_STD,
    SIGMA_LOG2,
    Net,
    RatePoint,
    StdPoint,
    point,
    rates,
    started,
    std_at_width,
)
from reproductions.supar.sweeps.experiment import (
    LADDER_NETS,
    NEURON_NETS,
    RATE_NETS,
    STD_NETS,
)
from reproductions.supar.transfer.experiment import DEEP_NETS, NETS

Family = Literal["sweep", "sigma", "iso_parameter", "fixed", "iso_neuron", "transfer"]

PILOT_SEED = 1000
SP_RATES = range(-8, 3)
"""k tried for SP: common practice has small rates at such widths."""
MUP_RATES = range(-4, 4)
STANDARD_DEVIATIONS = range(-5, 6)


class PilotRate(RatePoint):
    """A dense net at one learning rate."""

    family: Family = doc("Whose windows it centres.")


class PilotStd(StdPoint):
    """A dense net at one initial standard deviation."""

    family: Family = doc("Whose windows it centres.")


def _rates(
    family: Family, scheme: Scheme, ks: Sequence[int], net: Net, sp_std: float
) -> Iterator[PilotRate]:
    for dense in rates((PILOT_SEED,), (scheme,), ((1.0, net),), lambda *_: ks, sp_std=sp_std):
        yield point(PilotRate, dense, family=family)


def _starts(scheme: Scheme) -> Iterator[PilotStd]:
    for k in STANDARD_DEVIATIONS:
        sigma = SIGMA_LOG2 + k
        yield started(
            PilotStd, STD_NETS["cpu"], scheme, 1.0, PILOT_SEED, log2_sigma=sigma, family="sigma"
        )


def grid(profile: Profile) -> Iterator[PilotRate | PilotStd]:
    """Yield every family of dense nets that a cpu sweep needs centred."""
    match profile:
        case "smoke":
            net = RATE_NETS["smoke"]
            yield from _rates("sweep", "sp", (-4, -3), net, std_at_width(net))
        case "cpu":
            net = RATE_NETS["cpu"]
            yield from _rates("sweep", "sp", SP_RATES, net, std_at_width(net))
            yield from _rates("sweep", "mup", MUP_RATES, net, std_at_width(net))
            yield from _starts("sp")
            yield from _starts("mup")
            ladder = LADDER_NETS["cpu"]
            yield from _rates("iso_parameter", "sp", SP_RATES, ladder, PUBLISHED_SP_STD)
            yield from _rates("iso_parameter", "mup", MUP_RATES, ladder, PUBLISHED_SP_STD)
            yield from _rates("fixed", "sp", SP_RATES, DEEP_NETS["cpu"], PUBLISHED_SP_STD)
            yield from _rates("iso_neuron", "sp", SP_RATES, NEURON_NETS["cpu"], TABLE_3.init_std)
            yield from _rates("transfer", "sp", SP_RATES, NETS["cpu"], PUBLISHED_SP_STD)


dense_pilot = gpt_experiment(
    "supar/dense_pilot",
    version=1,
    params=(PilotRate, PilotStd),
    grid=grid,
    address=("family", "scheme", "log2_lr", "log2_sigma"),
)
