"""The one statistics rule, against scipy and exact parabolas."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from harness.declare.statistics import InvalidQuantity, aggregate, optimum_log2, t_interval

VALUES = st.floats(-1e6, 1e6)


@given(st.lists(VALUES, min_size=2, max_size=12))
def test_interval_equals_scipy(values: list[float]) -> None:
    sem = float(stats.sem(values))
    assume(sem > 1e-9 * (1 + max(map(abs, values))))
    low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=sem)
    ours = t_interval(values)
    assert ours.low == pytest.approx(low, rel=1e-9, abs=1e-9)
    assert ours.high == pytest.approx(high, rel=1e-9, abs=1e-9)


def test_one_value_has_no_interval_and_none_is_refused() -> None:
    assert t_interval([1.0]).high == math.inf
    with pytest.raises(InvalidQuantity, match="no seed"):
        t_interval([])


@given(
    st.integers(-20, 20), st.integers(3, 12), st.floats(0.01, 100.0), st.floats(-10, 10), st.data()
)
def test_vertex_of_a_parabola_is_exact(
    start: int, count: int, curvature: float, level: float, data: st.DataObject
) -> None:
    place = data.draw(st.floats(start + 0.6, start + count - 1.6))
    lattice = [float(start + k) for k in range(count)]
    y = [curvature * (x - place) ** 2 + level for x in lattice]
    order = data.draw(st.permutations(range(count)))
    found = optimum_log2([lattice[i] for i in order], [y[i] for i in order])
    assert found == pytest.approx(place, abs=1e-6)


@given(st.integers(3, 10), st.booleans())
def test_optimum_on_the_edge_has_no_place(count: int, falling: bool) -> None:
    lattice = [float(k) for k in range(count)]
    y = [-x for x in lattice] if falling else lattice
    with pytest.raises(InvalidQuantity, match="edge"):
        optimum_log2(lattice, y)


def test_aggregate_equals_numpy_and_keeps_the_order() -> None:
    table = pd.DataFrame(
        {"d": [2, 2, 2, 1, 1, 3], "loss": [1.0, 2.0, 4.0, 5.0, math.nan, math.nan]}
    )
    result = aggregate(table, by=["d"], value="loss")
    assert list(result["d"]) == [2, 1, 3]
    assert list(result["num_seeds"]) == [3, 1, 0]
    assert result["mean"][0] == pytest.approx(7 / 3)
    assert result["sem"][0] == pytest.approx(np.std([1, 2, 4], ddof=1) / math.sqrt(3))
    assert result["sem"][1] == 0.0
    assert math.isnan(result["mean"][2])
