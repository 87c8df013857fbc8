"""Pages as wide as a phone, a tablet and a desk: words stay in their boxes, tables are read."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page

from tests.harness.publish.report.pages import Demo, open_page, site_of

LONG_ID = "#second_phase_gains_at_equal_number_of_steps_on_cifar_100"
SIDES = ("Width", "Height")
MOVED = "verdict: REPRODUCED then, NOT_REPRODUCED now"
OUT = """() => [...document.querySelectorAll("body *")]
    .filter(each => getComputedStyle(each).overflowX === "visible" && each.clientWidth > 0
        && getComputedStyle(each).display !== "inline" && !each.closest(".hidden")
        && each.scrollWidth > each.clientWidth + 1)
    .map(each => `${each.tagName} ${each.className}: ${each.scrollWidth} > ${each.clientWidth}`)"""


def at(browser: Browser, width: int) -> Page:
    return browser.new_context(viewport={"width": width, "height": 800}).new_page()


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_long_names_in_a_claim_stay_in_its_row(browser: Browser, demo: Demo, width: int) -> None:
    page = at(browser, width)
    open_page(page, demo, "tasks/demo/fig02.html")
    for row in page.locator("table.claims tbody tr").all():
        row.locator(".permalink").evaluate("(link, name) => { link.textContent = name }", LONG_ID)
        row.locator("td").last.evaluate(
            "(cell, told) => { cell.innerHTML = `<ul><li>${told}</li></ul>` }", MOVED
        )
    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true })")
    assert page.evaluate(OUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


def test_heads_of_rows_stay_in_sight_of_a_table_that_is_scrolled(
    browser: Browser, demo: Demo
) -> None:
    page = at(browser, 390)
    open_page(page, demo, "tasks/demo/fig10.html")
    box = page.locator("#cpu .scroll:has(table.printed)").first
    # As wide as any: one cell makes it so.
    box.locator("tbody td").last.evaluate("cell => { cell.style.minWidth = '60rem' }")
    left = box.evaluate("box => { box.scrollLeft = 300; return box.getBoundingClientRect().left }")
    assert box.evaluate("box => box.scrollLeft") == 300
    heads = box.locator("tbody th[scope=row]")
    heads.last.evaluate("head => { head.textContent = 'LISA, gamma 0 (best rate of all)' }")
    width, height = (heads.last.evaluate(f"head => head.offset{side}") for side in SIDES)
    assert 100 < width < 200 and height < 100
    places = heads.evaluate_all("all => all.map(head => head.getBoundingClientRect().left)")
    assert places and max(abs(place - left) for place in places) <= 2
    page.context.close()


def right_edge(box: Locator) -> float:
    """Return how bright the last pixels of a box are, beside its border, from 0 to 1."""
    image = Image.open(io.BytesIO(box.screenshot())).convert("L")
    pixels = np.asarray(image, dtype=float) / 255
    # Below the head, which has a colour of its own.
    return float(np.median(pixels[len(pixels) // 2 :, -6:-3]))


def test_a_shadow_tells_that_a_table_goes_on(browser: Browser, demo: Demo) -> None:
    page = at(browser, 390)
    open_page(page, demo, "tasks/demo/fig02.html")
    box = page.locator("#cpu .scroll:has(table.values)")
    box.locator("tbody td").last.evaluate("cell => { cell.style.minWidth = '60rem' }")
    goes_on = right_edge(box)
    box.evaluate("box => { box.scrollLeft = box.scrollWidth }")
    assert right_edge(box) > 0.98 > 0.9 > goes_on
    page.context.close()


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_button_that_copies_does_not_cover_a_command(
    browser: Browser, demo: Demo, width: int
) -> None:
    page = at(browser, width)
    open_page(page, demo, "tasks/demo/fig02.html")
    block = page.locator("#cpu .copyable").first
    button, words = block.locator("button").bounding_box(), block.locator("code").bounding_box()
    assert button is not None and words is not None
    below = words["y"] >= button["y"] + button["height"]
    assert below or words["x"] + words["width"] <= button["x"]
    page.context.close()


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_a_long_value_takes_lines_of_several_words(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    """Beside many columns it would take a line a word, and its row most of the screen."""
    page = at(browser, width)
    open_page(page, site_of("lisa/fig12", tmp_path), "tasks/lisa/fig12.html")
    rows = page.locator("#cpu table.values tbody tr")
    heights = rows.evaluate_all("all => all.map(row => row.getBoundingClientRect().height)")
    assert heights and max(heights) < 100
    page.context.close()
