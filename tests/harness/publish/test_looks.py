"""What a reader may ask of a figure: it shows, and what cannot be is refused in a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from harness.errors import UsageError
from harness.publish import figures
from harness.publish.figures import figure_of
from harness.publish.page import LEAST_PANEL_IN
from tests.harness.publish.test_figures import REFERENCE, TABLE, TASK


def figure(**options: object) -> Figure:
    return figure_of(TASK, table=TABLE, reference=REFERENCE, profile="cpu", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("width", "inches"),
    [
        ("single", 3.3),
        ("3.3in", 3.3),
        ("8.4cm", 8.4 / 2.54),
        ("84 mm", 8.4 / 2.54),
        ("239pt", 239 / 72.27),
    ],
)
def test_width_is_a_word_or_a_length(width: str, inches: float) -> None:
    assert figure(width=width).get_figwidth() == pytest.approx(inches)


@pytest.mark.parametrize("width", ["single", "double"])
def test_a_height_that_presses_panels_flat_is_refused_with_one_that_does_not(width: str) -> None:
    with pytest.raises(UsageError, match=r"1 inches .*demo/fig01.*at least \d\.\din") as raised:
        figure(height="1in", width=width)
    (enough,) = re.findall(r"at least ([\d.]+in)", str(raised.value))
    made = figure(height=enough, width=width)
    (ax,) = made.axes
    assert f"{made.get_figheight():.1f}in" == enough
    assert ax.get_window_extent().height / made.dpi > LEAST_PANEL_IN - 0.11


@pytest.mark.parametrize(("palette", "first"), [("Dark2", "#1b9e77"), ("husl", "#f77189")])
def test_palette_takes_the_place_of_our_colours_in_lines_and_legend(
    palette: str, first: str
) -> None:
    plain, other = figure(), figure(palette=palette)
    ours, theirs = (
        {to_hex(line.get_color()) for line in each.axes[0].get_lines()} for each in (plain, other)
    )
    assert ours == {figures.PALETTE[0]}
    legend = other.axes[0].get_legend()
    assert legend is not None
    entries = legend.findobj(Line2D)  # type: ignore[attr-defined]
    assert theirs == {to_hex(entry.get_color()) for entry in entries} == {first}


def test_ours_alone_has_no_reference_rows() -> None:
    (ax,) = figure(ours_only=True).axes
    assert ax.get_legend_handles_labels()[1] == ["SP"]
    assert figure().axes[0].get_legend_handles_labels()[1] == ["SP", "SP, early version"]


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("width", "9px", "width '9px' is none"),
        ("width", "900in", "2 to 20 inches"),
        ("height", "single", "height 'single' is none"),
        ("palette", "Pastel3", "did you mean .*'Pastel2'"),
        ("font", "DejaVu Serf", "did you mean 'DejaVu Serif'"),
        ("style", "none.mplstyle", "there is no style file none.mplstyle"),
        ("style", "https://example.org/a.mplstyle", "there is no style file"),
    ],
)
def test_what_is_not_known_is_refused(option: str, value: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        figure(**{option: value})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"font.size: large\xff", "decode configuration file"),
        (b"font.size: banana", "font.size"),
        (b"font.sise: 9", "Bad key font.sise"),
        (b"font.size 9", "Missing colon"),
        (b"axes.prop_cycle: cycler('color'", "axes.prop_cycle"),
    ],
)
def test_a_style_file_that_is_none_is_refused(tmp_path: Path, text: bytes, told: str) -> None:
    style = tmp_path / "bad.mplstyle"
    style.write_bytes(text)
    with pytest.raises(UsageError, match=told) as raised:
        figure(style=style)
    assert "\n" not in str(raised.value)
