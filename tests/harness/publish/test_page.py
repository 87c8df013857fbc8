"""A figure fits its page: words within it, legends no wider, panels not flat."""

from __future__ import annotations

from itertools import pairwise

from matplotlib.text import Text

from harness.publish.figures import FigureContext
from harness.publish.page import Page, fit
from harness.publish.style import log_numbers
from tests.harness.publish.test_figures import REFERENCE, TABLE

LONG = "a title of many words that is far wider than one panel of two"


def page(**changes: object) -> tuple[Page, list]:  # type: ignore[type-arg]
    context = FigureContext(table=TABLE, reference=REFERENCE, profile="cpu", width="single")
    figure, axes = context.subplots(1, 2, **changes)  # type: ignore[arg-type]
    for ax in axes:
        ax.plot([1, 2], [1, 2], label="line")
    assert isinstance(figure, Page)
    return figure, axes


def laid_out(figure: Page) -> Page:
    fit(figure)
    figure.draw_without_rendering()
    return figure


def test_long_words_break_and_stay_within_the_figure() -> None:
    figure, axes = page()
    for ax in axes:
        ax.set(title=LONG, xlabel=LONG, ylabel=LONG)
    laid_out(figure)
    texts = [text for ax in axes for text in (ax.title, ax.xaxis.label, ax.yaxis.label)]
    boxes = [text.get_window_extent() for text in texts]
    assert all("\n" in text.get_text() for text in texts)
    assert min(box.x0 for box in boxes) >= -1
    assert max(box.x1 for box in boxes) <= figure.bbox.width + 1
    assert not axes[0].title.get_window_extent().overlaps(axes[1].title.get_window_extent())


def test_words_that_fit_stay_as_they_are() -> None:
    figure, axes = page(aspect=1.2)
    axes[0].set(title="two\nlines", xlabel="steps")
    before = figure.get_figheight()
    laid_out(figure)
    assert axes[0].get_title() == "two\nlines"
    assert figure.get_figheight() == before


def test_legend_takes_the_columns_that_there_is_room_for() -> None:
    figure, axes = page()
    handles = axes[0].get_lines() * 8
    legend = figure.legend(
        handles, [f"entry number {n}" for n in range(8)], loc="outside upper center", ncols=8
    )
    laid_out(figure)
    box = legend.get_window_extent()
    assert box.x0 >= -5 and box.x1 <= figure.bbox.width + 5
    assert len({round(text.get_window_extent().x0) for text in legend.get_texts()}) > 1


def test_names_below_a_panel_turn_where_they_overlap() -> None:
    figure, axes = page()
    axes[0].set_xticks([1, 1.5, 2], ["a long name", "a longer name", "the longest\nname"])
    laid_out(figure)
    labels: list[Text] = axes[0].get_xticklabels()
    assert {label.get_rotation() for label in labels} == {45}
    assert labels[2].get_text() == "the longest name"


def test_crowded_numbers_become_fewer_and_do_not_turn() -> None:
    figure, axes = page()
    axes[0].set_xscale("log")
    ticks = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]
    axes[0].set_xticks(ticks, [f"{tick:.2f}" for tick in ticks], minor=False)
    laid_out(figure)
    labels = axes[0].get_xticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert {label.get_rotation() for label in labels} == {0}
    assert 1 < len(labels) < len(ticks) and labels[0].get_text() == "1.00"
    assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))


def test_fewer_numbers_of_a_log_scale_are_its_powers_and_do_not_widen_it() -> None:
    figure, axes = page()
    axes[0].clear()
    axes[0].plot([700.0, 30_000.0], [0.0, 1.0])
    log_numbers(axes[0].xaxis, "{x:,.0f}")
    before = axes[0].get_xlim()
    laid_out(figure)
    assert [each.get_text() for each in axes[0].get_xticklabels()] == ["1,000", "10,000"]
    assert axes[0].get_xlim() == before
