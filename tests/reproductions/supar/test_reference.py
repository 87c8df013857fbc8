"""The paper's values: what is there, how it may be called, and that claims quote it right."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from harness.declare.reference import load_reference, published
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


def test_readings_of_the_first_version_do_not_stand_as_the_paper(reference: pd.DataFrame) -> None:
    first = reference[reference["version"] == "arXiv v1"]
    assert set(first["status"]) == {"early_version", "derived"}
    assert set(first["task"]) == {"fig01", "fig03", "fig06", "fig08", "fig09"}
    curves = published(reference).query("y_name == 'train_loss' or y_name == 'validation_loss'")
    assert curves.empty


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


def test_a_value_at_one_rung_is_not_that_of_all(reference: pd.DataFrame) -> None:
    look_up = partial(look_up_stated, reference, y_name="lr", series="fig10 sp")
    assert [look_up(x=density) for density in (1.0, 0.125)] == [6e-4, 2e-4]
    assert look_up() is None


def test_a_cell_is_split_where_it_tells_schemes_apart() -> None:
    assert list(convert_reference._by_scheme("SP 2.166e-2; muP/SmuPar 0.087")) == [
        ("sp", "2.166e-2"),
        ("mup", "0.087"),
        ("supar", "0.087"),
    ]
    assert list(convert_reference._by_scheme("0.087 (SP)")) == [("sp", "0.087")]
    assert list(convert_reference._by_scheme("10x linear")) == [("", "10x linear")]


def test_a_cell_is_split_where_it_tells_rungs_apart() -> None:
    ladder = {"1": "256", "0.5": "512"}
    cells = {
        "256/512": [("1", "256"), ("0.5", "512")],
        "6e-4 if d<=256 else 2e-4": [("1", "6e-4"), ("0.5", "2e-4")],
        "N/A": [("", "N/A")],
        "2": [("", "2")],
    }
    for cell, expected in cells.items():
        assert list(convert_reference._by_rung(cell, ladder)) == expected
    # Without a ladder nothing is guessed: the text stays, and no claim can be made of it.
    assert list(convert_reference._by_rung("256/512", {})) == [("", "256/512")]


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


def test_conversion_keeps_values_as_written(tmp_path: Path) -> None:
    for source, _ in convert_reference.FILES.values():
        header = (
            "parameterization,sparsity,log2_peak_lr,train_loss,is_marked_optimum,abs_err,source"
        )
        (tmp_path / source).write_text(header + "\n")
    (tmp_path / "fig1_fig6_arxiv_v1_digitized.csv").write_text(
        f"{header}\nmuP,0.875,-5.95,3.650,1,0.003,somewhere\n"
    )
    text = convert_reference.convert(tmp_path)["fig01_fig06_fig08_arxiv_v1.csv"]
    rows = list(csv.DictReader(text.splitlines()))
    assert [(row["task"], row["series"], row["x"], row["value"]) for row in rows] == [
        ("fig01", "mup 0.125", "-5.95", "3.650"),
        ("fig06", "mup 0.125", "-5.95", "3.650"),
        ("fig08", "mup", "0.125", "3.650"),
    ]


def test_thresholds_that_the_paper_prints_are_its_values() -> None:
    library = load_registry()
    found = {}
    for task in library.select(["supar"]):
        rows = load_reference(FOLDER, task.id.split("/")[1])
        for claim in task.claims:
            if claim.scope.threshold_from == "paper" and claim.criterion.paper_value is not None:
                low, high = (
                    claim.criterion.threshold
                    if isinstance(claim.criterion.threshold, tuple)
                    else (
                        claim.criterion.threshold - claim.criterion.tolerance,
                        claim.criterion.threshold + claim.criterion.tolerance,
                    )
                )
                printed = claim.criterion.paper_value(rows)
                assert printed is not None, claim.id
                assert low - 1e-12 <= printed <= high + 1e-12, claim.id
                found[f"{task.id}:{claim.id}"] = printed
    assert {name for name in found if "_as_stated" in name} == {
        f"supar/{word}:{who}_gap_as_stated" for word in ("fig03", "fig08") for who in ("sp", "mup")
    }
    assert {"supar/tab02:supar_average", "supar/tab02:sp_average"} <= set(found)
