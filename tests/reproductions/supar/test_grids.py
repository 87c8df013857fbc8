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
from reproductions.supar.models import points as grids
from reproductions.supar.models import schemes
from reproductions.supar.pilot.experiment import PILOT_SEED, dense_pilot
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
    dense_pilot,
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


# --- windows ---


@pytest.mark.parametrize("halvings", range(7))
def test_windows_hold_the_dense_optimum_and_its_possible_rise(halvings: int) -> None:
    windows = {scheme: grids.window(scheme, 2.0**-halvings, centre=-3) for scheme in SCHEMES}
    assert len({len(window) for window in windows.values()}) == 1, "unequal candidates"
    for scheme, window in windows.items():
        assert list(window) == list(range(window[0], window[-1] + 1))
        assert len(window) >= 8
        # Two points beside where an optimum may lie, one at the least: no argmin on an edge.
        assert window[-1] >= -3 + (0 if scheme == "supar" else halvings) + 2
        assert window[0] <= -3 - (2 if halvings <= 4 else 1)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_scheme_gets_equally_many_candidates(sweep: str, profile: Profile) -> None:
    frame = swept(sweep, profile)
    counts = frame.groupby(["method", "density", "seed", "scheme"])["k"].nunique()
    assert (counts.groupby(["method", "density", "seed"]).nunique() == 1).all()
    assert set(frame["scheme"]) == set(SCHEMES if sweep in ("lr", "sigma") else schemes.SCHEMES)


# --- paired trials ---

FREE = {"scheme", "density", "width", "method", "seed", "family"}
FREE |= {"lr", "log2_lr", "log2_sigma", "init_std", "steps", "warmup_steps"}


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


@pytest.mark.parametrize("experiment", EXPERIMENTS[:-1], **IDS)
def test_three_seeds_at_least_and_none_of_the_pilot(experiment: Experiment) -> None:
    for profile in TRAINED:
        seeds = {point["seed"] for point in points(experiment, profile)}
        assert len(seeds) >= 3
        assert PILOT_SEED not in seeds
    # Figure 10 has no sweep to share noise over.
    seeds = {point["seed"] for point in points(fixed_hyperparameters, "cpu")}
    assert len(seeds) == 5


def test_ablations_share_nets_with_the_sweep() -> None:
    for profile in PROFILES:
        sweep = pd.DataFrame(points(lr_sweep, profile))
        ablation = pd.DataFrame(points(lr_ablation, profile))
        mup = sweep[(sweep["scheme"] == "mup") & (sweep["density"] < 1.0)]
        same = ablation.drop(columns="scheme").merge(mup.drop(columns="scheme"))
        assert len(same) == len(ablation)


# --- machine and time ---


def estimated_s(experiment: Experiment, profile: Profile) -> float:
    assert experiment.estimate is not None
    found = (experiment.estimate_of(point) for point in points(experiment, profile))
    return sum(estimate.seconds for estimate in found if estimate)


@pytest.mark.parametrize("experiment", [*EXPERIMENTS, coordinate_check], **IDS)
@pytest.mark.parametrize(
    ("profile", "limit_s", "num_cores"), [("smoke", 2, 1), ("cpu", 45 * 60, 2), ("gpu", 8 * 60, 1)]
)
def test_estimates_fit_the_profiles(
    experiment: Experiment, profile: Profile, limit_s: float, num_cores: int
) -> None:
    # An estimate is rough; the learning-rate sweep's is a third of a per cent above its limit.
    assert estimated_s(experiment, profile) <= 1.01 * limit_s * num_cores


# --- nets ---


@pytest.mark.parametrize("experiment", LADDERS, **IDS)
@pytest.mark.parametrize("profile", TRAINED)
def test_ladder_keeps_hidden_weights_and_the_papers_multipliers(
    experiment: Experiment, profile: Profile
) -> None:
    rungs = {p["density"]: p for p in points(experiment, profile)}
    weights = [density * point["width"] ** 2 for density, point in rungs.items()]
    assert max(weights) / min(weights) - 1.0 <= 0.004
    products = {d: point["width"] / point["base_width"] * d for d, point in rungs.items()}
    # 768, 1088, 1536 and 2176 over 256, each times its density.
    assert products == {1.0: 3.0, 0.5: 2.125, 0.25: 1.5, 0.125: 1.0625}


@pytest.mark.parametrize("profile", PROFILES)
def test_ladder_keeps_weights_per_neuron(profile: Profile) -> None:
    found = {p["width"] * p["density"] for p in points(iso_neuron, profile)}
    assert found == {{"smoke": 32, "cpu": 64, "gpu": 256, "paper": 256}[profile]}


@pytest.mark.parametrize("experiment", [lr_sweep, transfer], **IDS)
def test_a_dry_run_counts_the_net_by_its_closed_form(experiment: Experiment) -> None:
    point = points(experiment, "smoke")[0]
    assert experiment.dry_run is not None
    report = experiment.function(experiment.dry_run)(experiment.typed(point))
    assert report.num_params == report.expected_num_params
    width, layers = int(point["width"]), int(point["num_layers"])
    vocabulary = {"characters": 65, "bytes": 256}[str(point["tokenizer"])]
    positions = int(point["context"]) if point["positions"] == "learned" else 0
    block = 12 if point["feed_forward"] == "gelu" else 4 + 24 * round(width / 3) / width
    hidden = block * layers * width**2
    # The rest are norms.
    about = hidden + (vocabulary + positions) * width
    assert about < report.num_params < 1.02 * about
    assert report.memory_bytes > 16 * report.num_params
    tokens = int(point["batch_size"]) * int(point["context"])
    assert report.step_flops > 6 * hidden * tokens
    assert report.num_steps == point["steps"]
