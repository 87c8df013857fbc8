"""Grids of every experiment that trains: fair, paired, inside their profiles' limits."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from harness.declare.experiment import Experiment
from harness.declare.profiles import PROFILES, Profile
from reproductions.supar.coordinates.experiment import coordinate_check
from reproductions.supar.dynamic.experiment import dynamic_sweep
from reproductions.supar.method.parameterization import SCHEMES
from reproductions.supar.models import schemes
from reproductions.supar.pilot.experiment import pilot_curves
from reproductions.supar.sweeps.experiment import (
    iso_neuron,
    iso_parameter,
    lr_ablation,
    lr_sweep,
    sigma_sweep,
)
from reproductions.supar.transfer.experiment import fixed_hyperparameters, transfer

EXPERIMENTS = [
    lr_sweep,
    lr_ablation,
    sigma_sweep,
    iso_parameter,
    iso_neuron,
    fixed_hyperparameters,
    transfer,
    dynamic_sweep,
    pilot_curves,
]
SWEEPS = {
    "lr": (lr_sweep, lr_ablation),
    "sigma": (sigma_sweep,),
    "iso_parameter": (iso_parameter,),
    "dynamic": (dynamic_sweep,),
}
"""Experiments that share windows: schemes are compared over all of them."""
LADDERS = (iso_parameter, fixed_hyperparameters)
TRAINED: tuple[Profile, ...] = ("cpu", "gpu", "paper")
IDS = {"ids": lambda experiment: experiment.id}


def points(experiment: Experiment, profile: Profile) -> list[dict[str, Any]]:
    return [dict(point) for point in experiment.params_of(profile)]


def swept(sweep: str, profile: Profile) -> pd.DataFrame:
    """Return all points of a sweep, what is swept as `k` on its lattice."""
    found = [p for experiment in SWEEPS[sweep] for p in points(experiment, profile)]
    frame = pd.DataFrame(found)
    name, unit = ("log2_sigma", 0.08665602) if sweep == "sigma" else ("log2_lr", 1.62e-2)
    k = frame[name] - math.log2(unit)
    assert (k - k.round()).abs().max() < 1e-9, "off the lattice"
    return frame.assign(k=k.round().astype(int), method=frame.get("method", ""))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_scheme_gets_equally_many_candidates(sweep: str, profile: Profile) -> None:
    frame = swept(sweep, profile)
    counts = frame.groupby(["method", "density", "seed", "scheme"])["k"].nunique()
    assert (counts.groupby(["method", "density", "seed"]).nunique() == 1).all()
    assert set(frame["scheme"]) == set(SCHEMES if sweep in ("lr", "sigma") else schemes.SCHEMES)


FREE = {"scheme", "density", "width", "method", "seed", "family"}
FREE |= {"lr", "log2_lr", "log2_sigma", "init_std", "steps", "warmup_steps"}
# SP has no multipliers, whatever stands there.
FREE |= {"input_multiplier", "output_multiplier"}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("experiment", EXPERIMENTS, **IDS)
def test_schemes_differ_in_nothing_but_rate_and_start(
    experiment: Experiment, profile: Profile
) -> None:
    nets = {
        (point.get("family"), tuple(sorted((k, v) for k, v in point.items() if k not in FREE)))
        for point in points(experiment, profile)
    }
    assert len(nets) == len({family for family, _ in nets})
    widths = {(p.get("family"), p["density"]): set() for p in points(experiment, profile)}
    for point in points(experiment, profile):
        widths[point.get("family"), point["density"]].add(point["width"])
    assert all(len(of_density) == 1 for of_density in widths.values())


@pytest.mark.parametrize("experiment", [*EXPERIMENTS, coordinate_check], **IDS)
@pytest.mark.parametrize(
    ("profile", "limit_s", "num_cores"), [("smoke", 2, 1), ("cpu", 45 * 60, 2), ("gpu", 8 * 60, 1)]
)
def test_estimates_fit_the_profiles(
    experiment: Experiment, profile: Profile, limit_s: float, num_cores: int
) -> None:
    found = [experiment.estimate_of(point) for point in points(experiment, profile)]
    assert all(found)
    assert sum(each.seconds for each in found if each) <= limit_s * num_cores


@pytest.mark.parametrize("experiment", LADDERS, **IDS)
@pytest.mark.parametrize("profile", TRAINED)
def test_ladder_keeps_hidden_weights(experiment: Experiment, profile: Profile) -> None:
    rungs = {p["density"]: p for p in points(experiment, profile)}
    weights = [density * point["width"] ** 2 for density, point in rungs.items()]
    assert max(weights) / min(weights) - 1.0 <= 0.004
