"""What a coordinate check shows: its table, its figure, its frames, and where nothing else is."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from harness.errors import EnvError, SpecError
from reproductions.supar.method.coordinate_check import EXPECTED
from reproductions.supar.method.coordinate_report import CoordinateReport
from reproductions.supar.method.slopes import FLAT, SIZES, Grid, judge


def report(
    layers: tuple[str, ...] = ("enter", "hidden"), *, vanishing: str = ""
) -> CoordinateReport:
    """Return a report on sizes made up; those of one layer fall as its density does."""
    grid = Grid(
        layers=layers, num_seeds=3, widths=(32, 64), densities=(0.25, 0.5, 1.0), num_steps=2
    )
    widths, densities = (np.array(places) for places in (grid.widths, grid.densities))
    noise = np.random.default_rng(0).normal(1.0, 0.01, grid.shape)
    sizes = {size: noise.copy() for size in SIZES}
    sizes["grad_x_rms"] /= widths[:, None, None]
    sizes["delta_y_rms"][..., 0] = np.nan
    if vanishing:
        sizes["mean_abs_activation"][layers.index(vanishing)] *= densities[:, None]
    slopes = judge(grid, sizes, tolerance=FLAT, expected=EXPECTED)
    return CoordinateReport(grid=grid, sizes=sizes, slopes=slopes)


def test_the_table_has_a_line_per_layer_at_80_columns_and_the_worst_first() -> None:
    lines = str(report(vanishing="hidden")).splitlines()
    assert lines[0] == "Coordinate check: fail. Of 20 slopes: 2 fail, 18 pass."
    assert lines[1] == "Widths: 32, 64. Densities: 0.25, 0.5, 1. Seeds: 3. Updates: 2."
    assert [line.split() for line in lines[3:5]] == [
        ["against", "width", "against", "density"],
        ["layer", "Y", "dY", "grad", "X", "Y", "dY", "grad", "X"],
    ]
    failed, passed = lines[5:7]
    assert failed.startswith("hidden ")
    assert passed.startswith("enter ")
    cells = failed.split()[1:]
    assert cells[3][-1] == "!"
    assert float(cells[3][:-1]) == pytest.approx(1.0, abs=0.05)
    assert all(abs(float(cell)) < 0.1 for cell in [*cells[:3], *cells[4:], *passed.split()[1:]])
    assert lines[-1].endswith("allowed is 0.33 either way. ! fails.")
    assert max(map(len, lines)) <= 80


def test_many_layers_with_long_names_are_summed_up() -> None:
    names = tuple(f"model.decoder.layers.{i}.self_attention.q_proj" for i in range(60))
    lines = str(report(names, vanishing=names[-1])).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) == 5 + 24 + 1 + 2
    assert lines[5].split()[0] == ".." + names[-1][-25:]
    assert "and 36 more layers: 36 pass" in lines


def test_frames_hold_the_slopes_and_the_sizes() -> None:
    found = report(vanishing="hidden")
    slopes = found.to_frame()
    assert len(slopes) == 20
    assert set(slopes.loc[slopes["verdict"] == "fail", "layer"]) == {"hidden"}
    sizes = found.to_frame("sizes")
    assert len(sizes) == 2 * 3 * 2 * 3 * 3
    row = sizes.query("layer == 'hidden' and seed == 1 and width == 64 and density == 0.5").iloc[2]
    assert (row["step"], row["grad_x_rms"]) == (2, found.sizes["grad_x_rms"][1, 1, 1, 1, 2])
    assert sizes.loc[sizes["step"] == 0, "delta_y_rms"].isna().all()
    with pytest.raises(SpecError, match="need 'slopes' or 'sizes'"):
        found.to_frame("rows")  # type: ignore[arg-type]


def test_the_figure_has_a_row_per_size_and_says_what_fails() -> None:
    figure = report(vanishing="hidden").plot()
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == [
        "0 of 4 slopes fail", "2 of 4 slopes fail", *["0 of 2 slopes fail"] * 2,
        *["0 of 4 slopes fail"] * 2,
    ]  # fmt: skip
    # What follows its law is level, whatever the law is; what vanishes is not.
    for ax, steep in zip(figure.axes, (False, True, False, False, False, False), strict=True):
        spans = [np.ptp(np.log2(line.get_ydata())) for line in ax.lines]
        assert (max(spans) > 1.8) == steep
        lines = np.concatenate([line.get_ydata() for line in ax.lines])
        assert ax.get_ylim()[0] < lines.min() <= lines.max() < ax.get_ylim()[1]
    (legend,) = figure.legends
    named = {text.get_text() for text in legend.get_texts()}
    assert named == {
        "slope: pass", "slope: undecided", "slope: fail", "before training", "after updates",
        "allowed slopes",
    }  # fmt: skip


def test_a_view_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(EnvError, match=r"^to_frame needs pandas, which is not installed"):
        report().to_frame()
