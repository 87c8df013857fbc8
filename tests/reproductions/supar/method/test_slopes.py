"""How slopes are judged: Student's t, the rate of false failures, and what many rows change."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from reproductions.supar.method.coordinate_check import EXPECTED
from reproductions.supar.method.slopes import FLAT, SIZES, Grid, Slope, judge, t_quantile, t_tail


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 30])
def test_student_s_t_is_that_of_scipy(degrees: int) -> None:
    for t in (0.0, 0.3, 2.5, 12.0, 90.0):
        assert t_tail(t, degrees) == pytest.approx(stats.t.sf(t, degrees), abs=1e-12)
    assert t_quantile(0.025, degrees) == pytest.approx(stats.t.isf(0.025, degrees))


def judged(slopes: NDArray[np.float64]) -> tuple[Slope, ...]:
    """Judge activations with given slopes against width, shape (layers, seeds), and no more."""
    num_layers, num_seeds = slopes.shape
    grid = Grid(
        layers=tuple(map(str, range(num_layers))), num_seeds=num_seeds, widths=(1, 2),
        densities=(1.0,), num_steps=1,
    )  # fmt: skip
    sizes = {size: np.ones(grid.shape) for size in SIZES}
    sizes["grad_x_rms"][:, :, 1] = 0.5
    sizes["mean_abs_activation"][:, :, 1] = 2.0 ** slopes[..., None, None]
    rows = judge(grid, sizes, tolerance=FLAT, expected=EXPECTED)
    return tuple(row for row in rows if (row.size, row.phase) == ("mean_abs_activation", "start"))


def noise(num_layers: int, *, mean: float, std: float = 0.1) -> NDArray[np.float64]:
    return np.random.default_rng(1).normal(mean, std, (num_layers, 5))


def test_layers_on_the_edge_fail_no_oftener_where_there_are_many() -> None:
    """Each by its own interval, some of a thousand layers on the tolerance's edge would fail."""
    rows = judged(noise(1000, mean=FLAT))
    alone = [row for row in rows if row.low > FLAT]
    assert len(alone) > 10
    assert not any(row.verdict == "fail" for row in rows)
    (reason,) = {row.reason for row in alone}
    assert reason == "neither within the tolerance nor surely outside: use more seeds"


def test_of_many_bad_layers_hardly_one_needs_more_seeds() -> None:
    """A correction by the number of rows, which grows with them, would let them all off."""
    rows = judged(noise(300, mean=0.7))
    assert sum(row.verdict == "fail" for row in rows) > 0.9 * len(rows)
    assert max(row.p_value for row in rows) > 0.05 / len(rows)


def test_a_p_value_is_that_of_the_interval() -> None:
    rows = judged(noise(60, mean=FLAT + 0.1))
    below = [row for row in rows if row.p_value <= 0.05]
    assert below == [row for row in rows if row.low > FLAT]
    assert 0 < len(below) < len(rows)
