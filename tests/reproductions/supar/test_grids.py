"""Grids of every experiment that trains: fair, paired, inside their profiles' limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd
import pytest

from harness.declare.experiment import Experiment, RawParams
from harness.declare.params import Scalar
from harness.declare.profiles import PROFILES, Profile
from reproductions.supar.coordinates.experiment import coordinate_check
from reproductions.supar.downstream.experiment import continuation, downstream
from reproductions.supar.dynamic.experiment import dynamic_sweep
from reproductions.supar.method.parameterization import SCHEMES
from reproductions.supar.models import points as grids
from reproductions.supar.models import schemes
from reproductions.supar.pilot.experiment import PILOT_SEED, dense_pilot
from reproductions.supar.sweeps.experiment import (
    LADDER_CENTRES,
    NEURON_CENTRE,
    PAPER_STD_CENTRES,
    RATE_CENTRES,
    STD_CENTRES,
    iso_neuron,
    iso_parameter,
    lr_ablation,
    lr_sweep,
    sigma_sweep,
)
from reproductions.supar.transfer.experiment import fixed_hyperparameters, transfer
from tests.reproductions.supar.models.test_gpt_trial import EXPERIMENTS

SWEEPS = {
    "lr": (lr_sweep, lr_ablation),
    "sigma": (sigma_sweep,),
    "iso_parameter": (iso_parameter,),
    "dynamic": (dynamic_sweep,),
}
"""Experiments that share windows: schemes are compared over all of them."""
MORE_AT_CPU = (
    *(lr_ablation, sigma_sweep, iso_parameter, iso_neuron, fixed_hyperparameters, transfer),
    *(dynamic_sweep, dense_pilot, continuation, downstream),
)
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


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_window_holds_the_dense_centre(sweep: str, profile: Profile) -> None:
    centres = {
        "lr": RATE_CENTRES,
        "sigma": PAPER_STD_CENTRES if profile == "paper" else STD_CENTRES,
        "iso_parameter": LADDER_CENTRES,
        "dynamic": RATE_CENTRES,
    }[sweep]
    for (scheme, *_), rows in swept(sweep, profile).groupby(["scheme", "method", "density"]):
        if sweep == "dynamic" and profile == "smoke":
            assert set(rows["k"]) == {centres[scheme]}
        else:
            assert rows["k"].min() < centres[scheme] < rows["k"].max()


def test_windows_of_standard_deviations_reach_further_down_at_cpu() -> None:
    frame = swept("sigma", "cpu")
    lowest = {
        (str(scheme), float(density)): rows["k"].min() - STD_CENTRES[scheme]
        for (scheme, density), rows in frame.groupby(["scheme", "density"])
    }
    # What `window` gives (-4, -3 and -2; SmuPar -4, -4 and -5), less one step per halving.
    rising = {1.0: -4, 1 / 4: -5, 1 / 16: -6}
    for (scheme, density), steps in lowest.items():
        assert steps == ({1.0: -4, 1 / 4: -6, 1 / 16: -9} if scheme == "supar" else rising)[density]


@pytest.mark.parametrize("profile", PROFILES)
def test_windows_at_equal_weights_per_neuron_are_alike(profile: Profile) -> None:
    frame = pd.DataFrame(points(iso_neuron, profile))
    windows = frame.groupby(["density", "seed"])["log2_lr"].agg(tuple)
    assert windows.nunique() == 1
    ks = [round(rate - grids.ETA_LOG2) for rate in windows.iloc[0]]
    assert min(ks) < NEURON_CENTRE < max(ks)


def test_ablations_run_where_they_are_not_mup() -> None:
    for profile in PROFILES:
        for sweep in ("lr", "sigma"):
            frame = swept(sweep, profile)
            ablations = frame[frame["scheme"].isin(schemes.ABLATIONS)]
            others = frame[frame["scheme"].isin(schemes.SCHEMES) & (frame["density"] < 1.0)]
            assert ablations["density"].max() < 1.0
            assert set(ablations["density"]) <= set(others["density"])


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


@pytest.mark.parametrize("experiment", EXPERIMENTS, **IDS)
def test_profiles_have_their_data_and_device(experiment: Experiment) -> None:
    for profile in PROFILES:
        needs = [experiment.needs_of(point) for point in points(experiment, profile)]
        data = {name for need in needs for name in need.data}
        if profile == "smoke":
            assert data == {"grammar-text"}
        else:
            assert data <= {"tinyshakespeare", "books", "slimpajama"}
            assert (data == {"slimpajama"}) == (profile == "paper" and bool(needs))
        on_gpu = profile in ("gpu", "paper")
        assert all((need.device == "cuda") == on_gpu for need in needs)
        assert all((need.gpu_bytes > 0) == on_gpu for need in needs)
        # One H200.
        assert all(need.gpu_bytes < 139 * 2**30 for need in needs)


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


def test_more_sweeps_are_estimated_at_three_hours_on_two_cores() -> None:
    total_s = sum(estimated_s(experiment, "cpu") for experiment in MORE_AT_CPU)
    assert total_s / 2 <= 3 * 3600


def test_sizes_of_the_learning_rate_sweep() -> None:
    sizes = [len(lr_sweep.params_of(profile)) for profile in ("smoke", "cpu")]
    assert sizes == [18, 396]


# --- nets ---


@pytest.mark.parametrize("experiment", EXPERIMENTS, **IDS)
def test_heads_divide_widths_and_neurons_keep_sixteen_weights(experiment: Experiment) -> None:
    for profile in PROFILES:
        for point in points(experiment, profile):
            assert point["width"] % point["head_size"] == 0
            assert point["batch_size"] % point["micro_batches"] == 0
            assert point["width"] * point["density"] >= 16


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


def test_sp_of_figure_10_gets_a_third_of_its_rate_on_wide_rungs() -> None:
    for profile in TRAINED:
        frame = pd.DataFrame(points(fixed_hyperparameters, profile))
        sp = frame[frame["scheme"] == "sp"].drop_duplicates("density").set_index("density")["lr"]
        assert sp[0.125] == pytest.approx(sp[1.0] / 3.0)
        assert sp[0.5] == sp[1.0]
        assert sp[0.25] == sp[0.125]
        others = frame[frame["scheme"] != "sp"]["lr"]
        assert set(others) == {1.62e-2}


def nets_of(experiments: Iterable[Experiment]) -> list[tuple[Experiment, RawParams]]:
    """Return one trial of every kind of net, the narrowest that there is.

    The contract suite counts every depth and width.
    """
    names = ("tokenizer", "feed_forward", "positions")
    found: dict[tuple[Scalar, ...], tuple[Experiment, RawParams]] = {}
    for experiment in experiments:
        for profile in PROFILES:
            for point in points(experiment, profile):
                kind = tuple(point[name] for name in names)
                if kind not in found or int(point["width"]) < int(found[kind][1]["width"]):
                    found[kind] = (experiment, point)
    return list(found.values())


def check_dry_run(experiment: Experiment, point: RawParams) -> None:
    assert experiment.dry_run is not None
    report = experiment.function(experiment.dry_run)(experiment.typed(point))
    assert report.num_params == report.expected_num_params
    width, layers = int(point["width"]), int(point["num_layers"])
    vocabulary = {"characters": 65, "bytes": 256, "gpt2": 50257}[str(point["tokenizer"])]
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


def test_dry_runs_count_the_real_net_of_every_kind() -> None:
    for experiment, point in nets_of([*EXPERIMENTS, coordinate_check]):
        check_dry_run(experiment, point)


@pytest.mark.parametrize("experiment", [*EXPERIMENTS, coordinate_check], **IDS)
def test_every_experiment_that_trains_has_a_dry_run(experiment: Experiment) -> None:
    check_dry_run(experiment, experiment.params_of("smoke")[0])
