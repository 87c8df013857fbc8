"""From long frames to the tables of figures: what is shown, chosen, added, left out."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from harness.declare.task import Task
from harness.store.table_csv import build_table
from reproductions.supar.models.costs import train_flops
from reproductions.supar.models.points import FixedPoint
from reproductions.supar.models.schemes import ABLATIONS
from reproductions.supar.sweeps.table import with_dense_ablations
from tests.reproductions.supar.hand_made import sweep
from tests.reproductions.supar.test_claims import TASKS


def frames_of(task: Task, **changes: Any) -> dict[str, pd.DataFrame]:
    """Return long frames of the smoke grids, the first and last trials of each diverged."""
    found = {}
    for experiment in task.reads:
        rows = [
            {**point, "train_loss": 1.0 + i, "val_loss": 2.0, "test_loss": 3.0, "clip_rate": 0.5}
            for i, point in enumerate(experiment.params_of("smoke"))
        ]
        frame = pd.DataFrame(rows).assign(status="done", **changes)
        losses = ["train_loss", "val_loss", "test_loss"]
        ends = [0, len(frame) - 1]
        frame.loc[ends, losses], frame.loc[ends, "status"] = float("nan"), "diverged"
        found[experiment.id] = frame
    return found


def table_of(name: str) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    frames = frames_of(TASKS[name])
    return build_table(TASKS[name], frames), frames


@pytest.mark.parametrize(
    ("name", "schemes"),
    [
        ("supar/fig03", {"sp", "mup", "supar"}),
        ("supar/fig07", {"sp", "mup", "supar"}),
        ("supar/fig09", {"sp", "mup", "supar"}),
        ("supar/fig10", {"sp", "mup", "supar"}),
        ("supar/fig11", {"sp"}),
        ("supar/fig12", {"sp", "mup", "supar"}),
        ("supar/fig13", {*ABLATIONS, "supar"}),
        ("supar/fig14", {*ABLATIONS, "supar"}),
    ],
)
def test_figures_show_their_schemes(name: str, schemes: set[str]) -> None:
    table, _ = table_of(name)
    assert set(table["scheme"]) == schemes
    # Each has a dense curve to start from.
    assert set(table.loc[table["density"] == 1.0, "scheme"]) == schemes


def test_dense_ablations_are_the_dense_rows_of_mup() -> None:
    points = [("mup", 1.0, 2.5), ("mup", 0.5, 2.6), ("sp", 1.0, 2.7), ("supar", 1.0, 2.8)]
    frame = pd.DataFrame(points, columns=["scheme", "density", "train_loss"])
    added = with_dense_ablations(frame).iloc[len(frame) :]
    assert added.to_dict("records") == [
        {"scheme": scheme, "density": 1.0, "train_loss": 2.5} for scheme in ABLATIONS
    ]
    assert with_dense_ablations(frame).iloc[: len(frame)].equals(frame)


def test_figure_14_shows_the_densities_of_the_ablations_alone() -> None:
    frames = frames_of(TASKS["supar/fig14"])
    more = frames["supar/lr_sweep"].assign(density=0.5)
    frames["supar/lr_sweep"] = pd.concat([frames["supar/lr_sweep"], more.drop_duplicates()])
    table = build_table(TASKS["supar/fig14"], frames)
    assert set(table["density"]) == {1.0, 0.25}


def test_figure_12_has_the_dense_runs_of_the_sweep_under_both_methods() -> None:
    table, frames = table_of("supar/fig12")
    sweep = frames["supar/lr_sweep"]
    dense = sweep[sweep["density"] == 1.0]
    for method in ("rigl", "gmp"):
        rows = table[(table["method"] == method) & (table["density"] == 1.0)]
        assert sorted(rows["log2_lr"]) == pytest.approx(sorted(dense["log2_lr"]))
        assert sorted(rows["train_loss"].dropna()) == sorted(dense["train_loss"].dropna())
    assert (table.loc[table["density"] < 1.0, "method"].value_counts() == 3).all()


def test_figure_12_takes_no_dense_runs_of_another_width() -> None:
    frames = frames_of(TASKS["supar/fig12"])
    frames["supar/lr_sweep"] = frames["supar/lr_sweep"].assign(width=4096)
    assert set(build_table(TASKS["supar/fig12"], frames)["density"]) == {0.25}


def test_figure_11_sets_two_ladders_over_the_same_densities() -> None:
    table, frames = table_of("supar/fig11")
    narrow = table[table["ladder"] == "iso_neuron"]
    fixed = table[table["ladder"] == "fixed_width"]
    assert len(narrow) == len(frames["supar/iso_neuron"])
    assert set(fixed["density"]) <= set(narrow["density"])
    assert set(fixed["width"]) == {64}


def test_figure_10_counts_the_operations_of_each_run() -> None:
    table, frames = table_of("supar/fig10")
    frame = frames["supar/fixed_hyperparameters"]
    for density in (1.0, 0.5):
        rows = frame[[field.name for field in FixedPoint.fields()]].to_dict("records")
        point = next(FixedPoint.from_json(row) for row in rows if row["density"] == density)
        assert set(table.loc[table["density"] == density, "train_flops"]) == {train_flops(point)}


def test_a_diverged_run_stays_in_the_table_without_a_loss() -> None:
    frame = sweep(True).drop(columns="diverged").assign(status="done")
    frame.loc[0, ["train_loss", "val_loss", "test_loss"]] = float("nan")
    frame.loc[0, "status"] = "diverged"
    table = build_table(TASKS["supar/fig06"], {"supar/lr_sweep": frame})
    assert len(table) == len(frame)
    assert table["diverged"].tolist() == [True] + [False] * (len(frame) - 1)


def long_sweep(val_losses: dict[float, float], **other: float) -> pd.DataFrame:
    point = {"scheme": "sp", "density": 0.5, "width": 64, "seed": 0, "test_loss": 9.0, **other}
    return pd.DataFrame(
        {**point, "log2_lr": rate, "val_loss": loss, "train_loss": 10.0 * rate, "status": "done"}
        for rate, loss in val_losses.items()
    )


def test_the_rate_is_chosen_by_validation_loss_alone() -> None:
    frame = long_sweep({-3.0: 2.0, -2.0: 1.0, -1.0: 3.0})
    (row,) = build_table(TASKS["supar/fig08"], {"supar/lr_sweep": frame}).to_dict("records")
    # Train loss is least at -3: it must not choose.
    assert (row["log2_lr"], row["train_loss"], row["on_edge"]) == (-2.0, -20.0, False)
    assert row["num_rates"] == 3


@pytest.mark.parametrize("losses", [{-3.0: 1.0, -2.0: 2.0}, {-3.0: 2.0, -2.0: 1.0}])
def test_a_choice_at_the_end_of_its_window_is_marked(losses: dict[float, float]) -> None:
    table = build_table(TASKS["supar/fig08"], {"supar/lr_sweep": long_sweep(losses)})
    assert table["on_edge"].tolist() == [True]


def test_all_diverged_leaves_an_empty_choice() -> None:
    frame = long_sweep({-3.0: float("nan"), -2.0: float("nan")})
    (row,) = build_table(TASKS["supar/fig08"], {"supar/lr_sweep": frame}).to_dict("records")
    assert pd.isna(row["log2_lr"]) and pd.isna(row["train_loss"]) and row["on_edge"]
