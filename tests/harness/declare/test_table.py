"""Tables: columns from parameters and words, in the order they are given, and rows picked."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd
import pytest

from harness.declare.params import Params, doc, seed
from harness.declare.statistics import MissingRows
from harness.declare.table import (
    Table,
    columns_of,
    measured,
    param,
    pick,
    seed_column,
    value,
)
from harness.errors import SpecError


class Step(Params):
    shape: str = doc("Model.")
    method: Literal["full", "lora"] = doc("How it is trained.")
    rate: float = doc("Learning rate.")
    tied: bool = doc("Whether weights are tied.", default=False)
    seed: int = seed("Layers drawn.")


NAMES = ["shape", "method", "rate", "tied", "seed"]


@pytest.mark.parametrize(
    ("only", "without", "unknown"),
    [(("rank",), (), ["rank"]), ((), ("rank",), ["rank"]), (("b", "a"), ("c",), ["a", "b", "c"])],
)
def test_name_that_is_no_parameter_is_refused(
    only: tuple[str, ...], without: tuple[str, ...], unknown: list[str]
) -> None:
    with pytest.raises(SpecError) as caught:
        columns_of(Step, *only, without=without)
    assert str(caught.value) == f"Step has no parameters {unknown}"


def test_table_takes_classes_columns_and_groups_in_their_order() -> None:
    bytes_of = (value("weights_bytes", int, ""), value("moments_bytes", int, ""))
    table = Table.of(
        param("period", int, ""), Step, bytes_of, iter([measured("step_ms", float, "")])
    )
    assert [column.type for column in table.columns][:5] == ["int", "str", "str", "float", "bool"]
    assert table.names == ["period", *NAMES, "weights_bytes", "moments_bytes", "step_ms"]
    assert table.keys == ["period", *NAMES]
    assert table.seed == "seed"
    assert table.make is None


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ((Step, param("rate", float, "")), "a column is declared twice"),
        ((Step, Step), "a column is declared twice"),
        ((Step, seed_column("", "draw")), "more than one seed column"),
    ],
)
def test_repeated_column_and_second_seed_are_refused(parts: tuple[Any, ...], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        Table.of(*parts)


TABLE = pd.DataFrame(
    {"method": ["full", "lora", "lora"], "seed": [0, 0, 1], "loss": [1.0, 2.0, 3.0]}
)


def test_rows_are_picked_by_all_that_is_wanted() -> None:
    assert list(pick(TABLE, method="lora")["loss"]) == [2.0, 3.0]
    assert list(pick(TABLE, method="lora", seed=1)["loss"]) == [3.0]
    assert list(pick(TABLE)["loss"]) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("cells", "dtype", "wanted"),
    [
        ([3, None, 4, 3], "Int64", 3),
        ([True, None, False, True], "boolean", True),
        (["a", None, "b", "a"], "str", "a"),
        (["a", None, "b", "a"], "object", "a"),
        ([0.5, None, 1.0, 0.5], "float64", 0.5),
        ([0.5, None, 1.0, 0.5], "Float64", 0.5),
    ],
)
def test_a_missing_cell_equals_nothing_in_any_type(cells: Any, dtype: str, wanted: Any) -> None:
    table = pd.DataFrame({"x": pd.Series(cells, index=[7, 5, 3, 1], dtype=dtype)})
    found = pick(table, x=wanted)
    assert list(found.index) == [7, 1]
    pd.testing.assert_frame_equal(found, table.loc[[7, 1]])


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"method": "lisa"}, "no row has method=lisa"),
        ({"method": "full", "seed": 1}, "no row has method=full, seed=1"),
    ],
)
def test_rows_that_are_not_there_are_missing_not_empty(wanted: Any, told: str) -> None:
    with pytest.raises(MissingRows) as caught:
        pick(TABLE, **wanted)
    assert str(caught.value) == told
    with pytest.raises(MissingRows):
        pick(TABLE.iloc[:0])
