"""What pilots chose for `cpu`, before its run: base hyperparameters, and where sweeps look.

Each number is read off the committed table of a pilot; a test holds them equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from harness.declare import Profile
from reproductions.supar.method.parameterization import TABLE_3, BaseHyperparameters, Scheme
from reproductions.supar.models.points import ETA_LOG2, Shape

Family = Literal["sweep", "sigma", "iso_parameter", "fixed", "iso_neuron", "transfer"]
"""The nets of Figures 1, 6, 8, 12 and 14; of 7 and 13; of 9, of 10, of 11 and of 3."""

BASES: Mapping[str, BaseHyperparameters] = {
    "sp": BaseHyperparameters(
        init_std=2.0**-3.5, lr=2.0**-7.25, input_multiplier=1.0, output_multiplier=1.0
    ),
    "mup": BaseHyperparameters(
        init_std=2.0**-3.25, lr=2.0**-7, input_multiplier=2.0**1.25, output_multiplier=2.0**0.5
    ),
}
"""Of least mean validation loss in `pilot_search`; SP has no multipliers. SmuPar and the ablations
are muP on the dense proxy."""
CENTRES: Mapping[Family, Mapping[str, int]] = {
    "sweep": {"sp": -3, "mup": 0},
    "sigma": {"sp": 0, "mup": 1},
    "iso_parameter": {"sp": -2, "mup": 0},
    "fixed": {"sp": -2},
    "iso_neuron": {"sp": 0},
    "transfer": {"sp": -4},
}
"""k of the dense net's least mean train loss in `pilot_curves`."""


def base_of(profile: Profile, scheme: Scheme) -> BaseHyperparameters:
    """Return the base hyperparameters of a scheme: the paper's, at `cpu` the pilots'."""
    return BASES["sp" if scheme == "sp" else "mup"] if profile == "cpu" else TABLE_3


def centre_of(family: Family, scheme: Scheme) -> int:
    """Return where the dense optimum of a family's nets lies at `cpu`, as k."""
    return CENTRES[family]["sp" if scheme == "sp" else "mup"]


def best_rate(family: Family) -> float:
    """Return SP's learning rate where it is not swept: its dense net's best one."""
    return float(2.0 ** (ETA_LOG2 + CENTRES[family]["sp"]))


def sp_std_at(net: Shape) -> float:
    """Return SP's standard deviation of a net at `cpu`: the proxy's over the root of m_d."""
    return BASES["sp"].init_std / math.sqrt(net.width / net.base_width)
