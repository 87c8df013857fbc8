"""The paper's values: what is there, how it may be called, and that claims quote it right."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.reference import load_reference
from harness.registry import load_registry
from reproductions.supar.models.claims import stated as look_up_stated
from tests.checkout import PAPERS
from tools.reference import supar as convert_reference

FOLDER = PAPERS / "supar"


@pytest.fixture(scope="module")
def reference() -> pd.DataFrame:
    return load_reference(FOLDER)


def test_every_converted_file_is_there_and_nothing_else() -> None:
    assert {path.name for path in (FOLDER / "reference").iterdir()} == set(convert_reference.FILES)


def test_table_2_averages_recompute(reference: pd.DataFrame) -> None:
    rows = reference[(reference["task"] == "tab02") & reference["x"].notna()]
    names = rows["series"].str.split(" ", n=1, expand=True).set_axis(["scheme", "name"], axis=1)
    tasks = rows.join(names).pivot_table(index=["scheme", "x"], columns="name", values="value")
    average = tasks.pop(next(name for name in tasks.columns if "avg" in name.lower()))
    # Rounded inputs and a printed mean of two decimals.
    assert ((tasks.mean(axis=1) - average).abs() <= 0.0101).all()


def test_figure_8_readings_are_the_least_of_each_curve(reference: pd.DataFrame) -> None:
    curves = reference[(reference["task"] == "fig06") & (reference["x_name"] == "log2_lr")]
    least = curves.groupby("series")["value"].min().to_dict()
    best = reference[(reference["task"] == "fig08") & (reference["x_name"] == "density")]
    found = {f"{row.series} {row.x:g}": row.value for row in best.itertuples()}
    assert found == least
    assert len(found) == 14


def test_mean_gap_of_the_readings_agrees_with_the_stated_one(reference: pd.DataFrame) -> None:
    best = reference[(reference["task"] == "fig08") & (reference["x_name"] == "density")]
    losses = best.pivot(index="x", columns="series", values="value")
    gap = ((losses["sp"] - losses["supar"]) / losses["supar"]).mean()
    stated = look_up_stated(reference, y_name="mean_gap", series="sp", scale=0.01)
    assert stated == pytest.approx(0.008)
    assert gap == pytest.approx(stated, abs=0.001)


def test_a_printed_row_of_table_4_stands_once_with_the_densities_of_its_widths() -> None:
    ours = {"figure": "9", "d_model": "256/512", "lr": "swept", "note": "sparsity 0/0.5; more"}
    shared = {"figure": "10, 2 (and Table 2)", "d_model": "256/512", "lr": "SP 1e-3", "note": ""}
    rows = [{**row, "source": "Table 4"} for row in (ours, shared)]
    found = [
        (row["series"], row["x"], row["y_name"], row["value"])
        for row in convert_reference.table_4(rows)
    ]
    assert found == [
        ("fig09", "1", "d_model", "256"),
        ("fig09", "0.5", "d_model", "512"),
        ("fig09", "", "lr", "swept"),
        ("fig10_02", "1", "d_model", "256"),
        ("fig10_02", "0.5", "d_model", "512"),
        ("fig10_02 sp", "", "lr", "1e-3"),
    ]


def test_thresholds_that_the_paper_prints_are_its_values() -> None:
    library = load_registry(["supar"])
    found = {}
    for task in library.select(["supar"]):
        rows = load_reference(FOLDER, task.id.split("/")[1])
        for claim in task.claims:
            if claim.scope.threshold_from == "paper" and claim.criterion.paper_value is not None:
                asked = claim.criterion.threshold
                low, high = asked if isinstance(asked, tuple) else (asked, asked)
                printed = claim.criterion.paper_value(rows)
                assert printed is not None, claim.id
                assert low - 1e-12 <= printed <= high + 1e-12, claim.id
                found[f"{task.id}:{claim.id}"] = printed
    assert {name for name in found if "_as_stated" in name} == {
        f"supar/{word}:{who}_gap_as_stated" for word in ("fig03", "fig08") for who in ("sp", "mup")
    }
    assert {"supar/tab02:supar_average", "supar/tab02:sp_average"} <= set(found)
