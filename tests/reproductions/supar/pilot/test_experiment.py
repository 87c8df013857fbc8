"""The dense pilots: every window is centred where the committed pilot found the least loss."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from harness.declare.experiment import Experiment
from reproductions.supar.pilot.experiment import dense_pilot
from reproductions.supar.sweeps.experiment import (
    LADDER_CENTRES,
    NEURON_CENTRE,
    RATE_CENTRES,
    STD_CENTRES,
    iso_neuron,
    iso_parameter,
    lr_sweep,
    sigma_sweep,
)
from reproductions.supar.transfer.experiment import (
    DEEP_SP_CENTRE,
    SP_CENTRE,
    fixed_hyperparameters,
    transfer,
)
from tests.checkout import ROOT

RESULT = ROOT / "results" / "supar" / "pilot.cpu.csv"
UNIT = {"log2_lr": 1.62e-2, "log2_sigma": 0.08665602}
"""Table 3's values, on which every lattice stands."""
CENTRES = {
    ("sweep", "sp"): RATE_CENTRES["sp"],
    ("sweep", "mup"): RATE_CENTRES["mup"],
    ("sigma", "sp"): STD_CENTRES["sp"],
    ("sigma", "mup"): STD_CENTRES["mup"],
    ("iso_parameter", "sp"): LADDER_CENTRES["sp"],
    ("iso_parameter", "mup"): LADDER_CENTRES["mup"],
    ("fixed", "sp"): DEEP_SP_CENTRE,
    ("iso_neuron", "sp"): NEURON_CENTRE,
    ("transfer", "sp"): SP_CENTRE,
}


@pytest.fixture(scope="module")
def pilot() -> pd.DataFrame:
    assert RESULT.exists(), "no committed pilot: repro run supar/pilot --profile cpu"
    return pd.read_csv(RESULT)


@pytest.mark.parametrize(("family", "scheme"), CENTRES)
def test_centre_is_the_least_loss_of_the_pilot(
    pilot: pd.DataFrame, family: str, scheme: str
) -> None:
    rows = pilot[(pilot["family"] == family) & (pilot["scheme"] == scheme)]
    best = rows.loc[rows["train_loss"].idxmin()]
    # Stored with nine digits.
    k = float(best["log2_value"]) - math.log2(UNIT[str(best["swept"])])
    assert k == pytest.approx(CENTRES[family, scheme], abs=1e-6)
    assert rows["log2_value"].min() < best["log2_value"] < rows["log2_value"].max(), "on the edge"


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


@pytest.mark.parametrize(("family", "scheme"), CENTRES)
def test_pilot_nets_are_those_of_the_sweeps_they_centre(family: str, scheme: str) -> None:
    piloted = nets(dense_pilot, family=family, scheme=scheme)
    assert piloted
    assert piloted <= nets(SWEEPS[family], density=1.0, scheme=scheme)
