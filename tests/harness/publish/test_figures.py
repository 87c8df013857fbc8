import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from harness.declare.named import bind
from harness.declare.reference import COLUMNS
from harness.declare.table import Table, param, seed_column, value
from harness.declare.task import Task
from harness.errors import EnvError, SpecError
from harness.publish import figures
from harness.publish.figures import FigureContext, Width, draw, figure_of, plot_ours, plot_paper
from tests.checkout import ROOT
from tests.harness.hand_made import unrun
from tests.latex import needs_latex, set_by_latex

TABLE = pd.DataFrame(
    {
        "scheme": ["sp"] * 6,
        "density": [1.0, 1.0, 1.0, 0.5, 0.5, 0.5],
        "seed": [0, 1, 2, 0, 1, 2],
        "loss": [2.0, 2.2, 2.4, 3.0, 3.0, np.nan],
    }
)
REFERENCE = pd.DataFrame(
    [
        ("fig01", "SP", "density", 1.0, "loss", 2.1, "", 0.01, "early_version", "v1", "s", "2.1"),
        ("fig01", "SP", "density", 0.5, "loss", 3.1, "", np.nan, "early_version", "v1", "s", "3.1"),
    ],
    columns=[*COLUMNS, "value_text"],
)


def picture(ctx: FigureContext) -> Figure:
    figure, (ax,) = ctx.subplots()
    plot_ours(ax, ctx.table, x="density", y="loss", label="SP", color=figures.PALETTE[0])
    plot_paper(ax, ctx.reference, label="SP", color=figures.PALETTE[0])
    ax.set_xlabel("density")
    ax.set_xscale("log", base=2)
    ax.legend(loc="upper right")
    return figure


def greek(ctx: FigureContext) -> Figure:
    figure = picture(ctx)
    figure.axes[0].set_title("S\N{GREEK SMALL LETTER MU}Par, $\\eta_2$ at 50 % of lr_base")
    return figure


def crowded(ctx: FigureContext) -> Figure:
    figure, (ax,) = ctx.subplots()
    ax.scatter(*np.random.default_rng(0).normal(size=(2, 5000)))
    return figure


def shifted(ctx: FigureContext, *, by: float) -> Figure:
    canvas = Figure(figsize=(3, 2))
    panel = canvas.add_axes((0.2 + by, 0.2, 0.7, 0.7 - by))
    panel.plot(ctx.table["loss"].to_numpy())
    return canvas


TASK = Task(
    "demo/fig01",
    reads=(unrun("demo/sweep"),),
    table=Table.of(value("loss", float, "The loss.")),
    figure="test_figures:picture",
    alt="A line.",
)


def drawn(fmt: str = "svg", **changes: object) -> bytes:
    arguments: dict[str, object] = {"table": TABLE, "reference": REFERENCE, "profile": "cpu"}
    return draw(TASK, **{**arguments, **changes}, fmt=fmt)  # type: ignore[arg-type]


def context(width: figures.Width = "double") -> FigureContext:
    inches = figures.WIDTH_IN[width]
    return FigureContext(table=TABLE, reference=REFERENCE, profile="cpu", width_in=inches)


@pytest.mark.parametrize(("rows", "told"), [(TABLE, "3 seeds"), (TABLE[:-1], "up to 3 seeds")])
def test_the_foot_says_where_some_points_have_fewer_seeds(rows: pd.DataFrame, told: str) -> None:
    columns = (param("density", float, "Of weights."), seed_column("One net."), *TASK.table.columns)
    task = replace(TASK, table=Table.of(*columns))
    figure = figure_of(task, table=rows, reference=REFERENCE, profile="cpu")
    assert figure.get_supxlabel().startswith(f"demo/fig01, profile cpu; {told}, each one net")


REDRAW = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from tests.harness.publish.test_figures import drawn
print(*[hashlib.sha256(drawn(fmt)).hexdigest() for fmt in ("svg", "png", "pdf")])
"""


def test_bytes_are_equal_in_a_fresh_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REDRAW, str(ROOT)],
        env={**os.environ, "PYTHONHASHSEED": "2", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = {fmt: drawn(fmt) for fmt in ("svg", "png", "pdf")}
    assert done.stdout.split() == [hashlib.sha256(data).hexdigest() for data in here.values()]
    for data, start in zip(here.values(), (b"<?xml", b"\x89PNG", b"%PDF"), strict=True):
        assert data.startswith(start)
        assert b"CreationDate" not in data and b"dc:date" not in data
        assert matplotlib.__version__.encode() not in data


def test_settings_of_the_caller_do_not_show() -> None:
    expected = drawn()
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "svg.hashsalt": None}):
        assert drawn() == expected


@pytest.mark.parametrize("width", ["single", "double"])
def test_what_stood_in_is_named_at_the_foot_within_the_figure(width: Width) -> None:
    here = {f"net {number}": f"a smaller one of WIDTH {number}" for number in range(6)}
    given = {"table": TABLE, "reference": REFERENCE, "profile": "cpu", "width": width}
    plain, figure = (figure_of(TASK, **given, stands_in=each) for each in ({}, here))
    told = figure.get_supxlabel().replace("\n", " ")
    assert told.startswith(
        "demo/fig01, profile cpu; ran on a smaller one of WIDTH 0 instead of net 0; "
    )
    assert told.endswith(" instead of net 5")
    (low, bottom), (high, _) = figure.texts[0].get_window_extent().get_points()
    assert low >= 0 and bottom >= 0 and high <= figure.bbox.width
    panels = [each.axes[0].get_window_extent().height for each in (plain, figure)]
    assert panels[0] == pytest.approx(panels[1], abs=5.0)  # it is the figure that grows


def test_ours_is_filled_and_solid_the_paper_hollow_and_dashed() -> None:
    figure = picture(context())
    ours, paper = figure.axes[0].get_legend_handles_labels()[0]
    assert ours.get_linestyle() == "-"
    assert ours.get_markerfacecolor() == figures.PALETTE[0]
    assert paper.lines[0].get_linestyle() == "--"
    assert to_rgb(paper.lines[0].get_markerfacecolor()) == (1.0, 1.0, 1.0)


def test_ours_shows_mean_and_standard_error_over_seeds() -> None:
    figure = picture(context())
    (ax,) = figure.axes
    x, y = ax.get_lines()[0].get_data()
    assert list(x) == [0.5, 1.0]
    assert y == pytest.approx([3.0, 2.2])
    # Standard error of 2.0, 2.2, 2.4: standard deviation 0.2 over the root of 3.
    (low, high) = ax.containers[0].lines[2][0].get_segments()[1][:, 1]
    assert (high - low) / 2 == pytest.approx(0.2 / 3**0.5)


def test_a_mean_is_not_taken_on_a_scale_of_logarithms() -> None:
    _, (ax,) = context().subplots()
    ax.set_yscale("log")
    with pytest.raises(SpecError, match="SP is drawn on a log scale"):
        plot_ours(ax, TABLE, x="density", y="loss", label="SP", color=figures.PALETTE[0])


def test_svg_beyond_the_limit_is_refused_with_a_remedy() -> None:
    task = replace(TASK, figure="test_figures:crowded")
    with pytest.raises(SpecError, match="rasterized=True"):
        draw(task, table=TABLE, reference=REFERENCE, profile="cpu")


def test_pgf_without_latex_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EnvError, match=r"LaTeX.*--format pdf"):
        drawn("pgf")


DOCUMENT = r"""\documentclass{article}
\usepackage{pgf}
\begin{document}
\input{figure.pgf}
\end{document}
"""


@pytest.mark.tools
def test_pgf_is_set_by_latex_in_a_document(tmp_path: Path) -> None:
    needs_latex("pgf.sty")
    task = replace(TASK, figure="test_figures:greek")
    image = draw(
        task, table=TABLE, reference=REFERENCE, profile="cpu", fmt="pgf", aside="variant x=9"
    )
    (tmp_path / "figure.pgf").write_bytes(image)
    assert "Missing character" not in set_by_latex(DOCUMENT, tmp_path)
    assert (tmp_path / "document.pdf").stat().st_size > 5_000


def test_last_digits_of_the_layout_do_not_show() -> None:
    def shifted_by(noise: float) -> bytes:
        task = replace(TASK, figure=bind("test_figures:shifted", by=noise))
        return draw(task, table=TABLE, reference=REFERENCE, profile="cpu")

    assert shifted_by(1e-13) == shifted_by(0.0)
    assert shifted_by(0.01) != shifted_by(0.0)
