"""The pilots: what the run has is what their committed tables say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.declare.experiment import Experiment
from reproductions.supar.models.chosen import BASES, CENTRES
from reproductions.supar.models.points import ETA_LOG2, SIGMA_LOG2
from reproductions.supar.pilot.experiment import pilot_curves
from reproductions.supar.sweeps.experiment import (
    iso_neuron,
    iso_parameter,
    lr_sweep,
    sigma_sweep,
)
from reproductions.supar.transfer.experiment import fixed_hyperparameters, transfer
from tests.checkout import ROOT

LATTICE = {"log2_lr": ETA_LOG2, "log2_sigma": SIGMA_LOG2}
TUNED = ("init_std", "lr", "input_multiplier", "output_multiplier")


def committed(name: str) -> pd.DataFrame:
    path: Path = ROOT / "results" / "supar" / f"{name}.cpu.csv"
    assert path.exists(), f"no committed pilot: repro run supar/{name} --profile cpu"
    return pd.read_csv(path)


@pytest.mark.parametrize("scheme", BASES)
def test_base_hyperparameters_are_the_best_of_the_search(scheme: str) -> None:
    rows = committed("pilot_search").query(f"scheme == '{scheme}'")
    # A configuration that diverged at one seed is none of the best.
    means = rows.groupby(list(TUNED))["val_loss"].agg(lambda losses: losses.mean(skipna=False))
    best = pd.DataFrame(means.sort_values().index.to_frame()).iloc[0]
    for name in TUNED:
        assert getattr(BASES[scheme], name) == pytest.approx(best[name], rel=1e-6)
        ends = rows[name].min(), rows[name].max()
        assert ends[0] == ends[1] or ends[0] < best[name] < ends[1], "on the edge"


PLACES = [(family, scheme) for family, schemes in CENTRES.items() for scheme in schemes]


@pytest.mark.parametrize(("family", "scheme"), PLACES)
def test_centre_is_the_least_loss_of_the_pilot(family: str, scheme: str) -> None:
    pilot = committed("pilot_curves")
    rows = pilot[(pilot["family"] == family) & (pilot["scheme"] == scheme)]
    means = rows.groupby("log2_value")["train_loss"].mean()
    best = float(means.idxmin())
    # Stored with nine digits.
    k = best - LATTICE[str(rows["swept"].iloc[0])]
    assert k == pytest.approx(CENTRES[family][scheme], abs=1e-6)  # type: ignore[index]
    assert means.index.min() < best < means.index.max(), "on the edge"


SWEEPS = {
    "sweep": lr_sweep,
    "sigma": sigma_sweep,
    "iso_parameter": iso_parameter,
    "iso_neuron": iso_neuron,
    "fixed": fixed_hyperparameters,
    "transfer": transfer,
}
FREE = {"family", "seed", "lr", "log2_lr", "log2_sigma"}


def nets(experiment: Experiment, **where: object) -> set[Any]:
    """Return what tells the nets of some points apart."""
    return {
        tuple(sorted((k, v) for k, v in point.items() if k not in FREE))
        for point in experiment.params_of("cpu")
        if all(point[name] == value for name, value in where.items())
    }


@pytest.mark.parametrize(("family", "scheme"), PLACES)
def test_pilot_nets_are_those_of_the_sweeps_they_centre(family: str, scheme: str) -> None:
    piloted = nets(pilot_curves, family=family, scheme=scheme)
    assert piloted
    assert piloted <= nets(SWEEPS[family], density=1.0, scheme=scheme)
