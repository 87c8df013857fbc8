"""Tables come back from their CSV as they were, and a bad one names its line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.declare.table import Column, Table, param, seed_column, value
from harness.declare.task import Task
from harness.errors import DataError, SpecError
from harness.store.table_csv import build_table, csv_text, parse_csv, validate
from tests.harness.hand_made import unrun

COLUMNS = Table.of(
    param("name", str, ""),
    seed_column(""),
    value("count", int, "", nullable=True),
    value("loss", float, "", nullable=True),
    value("good", bool, "", nullable=True),
    value("note", str, "", nullable=True),
)
NINE_DIGITS = st.floats(allow_nan=False, width=64).map(lambda x: float(f"{x:.9g}"))
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
ROW = st.tuples(
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | NINE_DIGITS,
    st.none() | st.booleans(),
    st.none() | TEXT.filter(bool),
)


def frame(rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    table = pd.DataFrame([list(row) for row in rows], columns=COLUMNS.names, dtype=object)
    return validate(table, COLUMNS, where="here")


def cells(table: pd.DataFrame) -> list[list[Any]]:
    """Return the values as plain Python, None where there is none."""
    return [
        [None if pd.isna(v) else (v.item() if hasattr(v, "item") else v) for v in row]
        for row in table.itertuples(index=False, name=None)
    ]


@settings(deadline=None)
@given(values=st.lists(ROW, max_size=6), names=st.lists(TEXT, min_size=6, max_size=6))
def test_round_trip(values: list[tuple[Any, ...]], names: list[str]) -> None:
    table = frame([(names[i], i, *row) for i, row in enumerate(values)])
    back = parse_csv(csv_text(table).encode(), COLUMNS, where="table.csv")
    assert cells(back) == cells(table)
    assert list(back.dtypes) == list(table.dtypes)
    assert csv_text(back) == csv_text(table)


def test_format_is_fixed() -> None:
    table = frame([("a", 0, 3, 1 / 3, True, None), ("b", 1, None, math.nan, False, "x")])
    assert csv_text(table) == (
        "name,seed,count,loss,good,note\na,0,3,0.333333333,true,\nb,1,,,false,x\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the columns are"),
        ("name,seed\n", "line 1: the columns are"),
        ("name,seed,count,loss,good,note\na,0,1,1.0,true\n", "line 2: 5 cells, need 6"),
        ("name,seed,count,loss,good,note\na,0,1,x,true,\n", "line 2: loss='x' is no float"),
        ("name,seed,count,loss,good,note\na,,1,1.0,true,\n", "line 2: seed is empty"),
        ("name,seed,count,loss,good,note\na,0,1,1.0,True,\n", "line 2: good='True' is no bool"),
        ("name,seed,count,loss,good,note\na,0,1.5,1.0,true,\n", "line 2: count='1.5' is no int"),
        (
            "name,seed,count,loss,good,note\na,0,9223372036854775808,1.0,true,\n",
            "line 2: count='9223372036854775808' is no int",
        ),
    ],
)
def test_bad_csv_names_file_and_line(text: str, message: str) -> None:
    with pytest.raises(DataError, match=r"bad\.csv") as caught:
        parse_csv(text.encode(), COLUMNS, where="bad.csv")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "rows",
    [
        [("a", 0, 1, 1.0, True, None), ("a", 0, 2, 1.0, True, None)],  # repeated key
        [("a", None, 1, 1.0, True, None)],  # a seed that is not there
        [("a", 0, "many", 1.0, True, None)],  # a word for a number
        [(None, 0, 1, 1.0, True, None)],  # a parameter that is not there
    ],
)
def test_table_against_its_declaration_is_refused(rows: list[tuple[Any, ...]]) -> None:
    with pytest.raises(SpecError, match="here: "):
        frame(rows)


def made_task(*reads: str, column: Column | None = None) -> Task:
    table = Table.of(column or param("x", int, ""))
    experiments = tuple(unrun(f"demo/{name}") for name in reads or ["one"])
    return Task("demo/tab01", reads=experiments, table=table)


def test_table_of_one_experiment_is_its_frame_in_the_declared_columns() -> None:
    table = build_table(made_task(), {"demo/one": pd.DataFrame({"y": [5, 6], "x": [2, 1]})})
    assert list(table.columns) == ["x"]
    assert list(table["x"]) == [2, 1]


def test_table_after_a_run_is_the_one_in_its_csv() -> None:
    task = made_task(column=value("loss", float, ""))
    table = build_table(task, {"demo/one": pd.DataFrame({"loss": [1 / 3]})})
    assert list(table["loss"]) == [0.333333333]
