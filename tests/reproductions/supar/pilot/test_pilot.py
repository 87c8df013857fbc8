"""The pilot's table: what was swept stands in one column."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.profiles import Profile
from harness.store.table_csv import build_table
from reproductions.supar.pilot import pilot


def frame_of(profile: Profile) -> pd.DataFrame:
    (experiment,) = pilot.task.reads
    points = pd.DataFrame(experiment.params_of(profile))
    return points.assign(train_loss=1.0, val_loss=2.0, test_loss=3.0, status="done")


def table_of(frame: pd.DataFrame) -> pd.DataFrame:
    return build_table(pilot.task, {pilot.task.reads[0].id: frame})


def test_pilot_table_has_what_was_swept_in_one_column() -> None:
    frame = frame_of("cpu")
    table = table_of(frame)
    assert len(table) == len(frame)
    sigma = table["family"] == "sigma"
    assert set(table.loc[sigma, "swept"]) == {"log2_sigma"}
    assert set(table.loc[~sigma, "swept"]) == {"log2_lr"}
    wanted = frame["log2_sigma"].where(frame["family"] == "sigma", frame["log2_lr"])
    assert sorted(table["log2_value"]) == pytest.approx(sorted(wanted))


def test_pilot_table_of_one_family_needs_no_standard_deviation() -> None:
    assert set(table_of(frame_of("smoke"))["swept"]) == {"log2_lr"}
