"""An item's page in a real browser: order of claims, addresses of them, copying, printing."""

from dataclasses import replace

import pytest
from harness.publish.report.site.overview import overview_context
from harness.publish.report.site.task_page import task_context
from playwright.sync_api import Browser, Locator, Page, expect

from harness.publish.report.site.pages import render
from tests.harness.publish.report.pages import Demo, open_page, site_of
from tests.harness.publish.report.pdf_text import pages_of
from tests.harness.publish.report.test_headlines import paper_with

PRINTED_PX = 965
"""Between the margins of a sheet of letter paper on its side, which is narrower than A4."""


@pytest.fixture(scope="module")
def federated(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return site_of("asymvalley/tab01", tmp_path_factory.mktemp("federated"))


def test_what_did_not_hold_comes_first_and_checks_are_folded(page: Page, demo: Demo) -> None:
    open_page(page, demo, "tasks/demo/fig02.html")
    claims = page.locator("#cpu").get_by_role("region", name="Claims at cpu")
    badges = claims.locator("td .badge").all_inner_texts()
    assert badges == ["NOT_REPRODUCED", "NOT_REPRODUCED", "REPRODUCED"]
    checks = page.get_by_role("region", name="Checks at cpu")
    expect(checks).not_to_be_visible()
    page.locator("#cpu").get_by_text("1 check holds", exact=True).click()
    expect(checks.locator("td .badge")).to_have_text("HOLDS")


def test_code_in_a_state_or_a_reason_is_marked_as_code(demo: Demo) -> None:
    paper = paper_with(demo, reason="at `smoke` <alone>")
    entry = next(entry for entry in paper.entries if entry.item.id == "fig02")
    html = render("task.html.j2", task_context(paper, entry))
    assert "<small>at <code>smoke</code> &lt;alone&gt;" in html
    waits = replace(entry, runs=(), awaited="card")
    html = render("task.html.j2", task_context(paper, waits))
    assert "with one <code>make gpu ONLY=demo/fig02</code> runs it</p>" in html
    index = render("index.html.j2", overview_context([replace(paper, entries=(waits,))], []))
    assert "<code>make gpu ONLY=demo/fig02</code> runs it; verdicts as at <code>cpu</code>" in index


@pytest.mark.parametrize("claim", ["cpu-grows", "cpu-rows", "smoke-rows"])
def test_every_claim_has_an_address_that_unfolds_it(page: Page, demo: Demo, claim: str) -> None:
    open_page(page, demo, f"tasks/demo/fig02.html#claims-at-{claim}")
    row = page.locator(f"tr#claims-at-{claim}")
    expect(row).to_be_in_viewport()
    link = row.get_by_role("link", name="Link to claim")
    expect(link).to_be_visible()
    expect(link).to_have_attribute("href", f"#claims-at-{claim}")


def test_every_block_of_commands_can_be_copied(browser: Browser, demo: Demo) -> None:
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = context.new_page()
        open_page(page, demo, "tasks/demo/fig02.html")
        blocks = page.locator("pre")
        assert blocks.count() == 2
        for block in blocks.all():
            expect(block.locator("xpath=..").locator("button.copy")).to_have_count(1)
        page.locator("#cpu").get_by_role("button", name="Copy").click()
        expect(page.locator("#cpu button.copy")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.splitlines()[0] == "repro run demo/fig02 --profile cpu"
        assert "Copy" not in copied


def test_what_may_not_be_copied_is_selected(browser: Browser, demo: Demo) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        open_page(page, demo, "tasks/demo/fig02.html")
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        page.locator("#cpu").get_by_role("button", name="Copy").click()
        expect(page.locator("#cpu button.copy")).to_have_text("Selected")
        assert "repro run demo/fig02" in page.evaluate("getSelection().toString()")


def test_page_leads_to_source_paper_and_neighbours(page: Page, demo: Demo) -> None:
    open_page(page, demo, "tasks/demo/fig02.html")
    source = page.get_by_role("link", name="reproductions/demo/loss/fig02.py")
    expect(source).to_have_attribute("href", "../../../reproductions/demo/loss/fig02.py")
    paper = page.get_by_role("link", name="A demonstration, made up for tests")
    expect(paper).to_have_attribute("href", "../../../results/demo/README.md")
    expect(page.get_by_role("link", name="Previous")).to_have_count(0)
    for title in ("demo/fig10", "demo/fig11"):
        page.get_by_role("link", name=f"Next: {title}").click()
        expect(page.locator("h1 code")).to_have_text(title)
    expect(page.get_by_role("link", name="Next")).to_have_count(0)
    page.get_by_role("link", name="Previous: demo/fig10").click()
    page.get_by_role("link", name="Those of demo").click()
    expect(page.get_by_role("searchbox")).to_have_value("demo")


def test_page_says_what_a_run_takes(page: Page, demo: Demo, federated: Demo) -> None:
    open_page(page, demo, "tasks/demo/fig02.html")
    expect(page.locator("#cpu")).to_contain_text("Its trials took 1 min 15 s of computing time")
    expect(page.locator("#cpu")).not_to_contain_text("REPRO_DATA")
    open_page(page, federated, "tasks/asymvalley/tab01.html")
    expect(page.locator("#cpu")).to_contain_text("read cifar10_10k_5k and mnist: set REPRO_DATA")


def test_smoke_is_folded_below(page: Page, demo: Demo) -> None:
    open_page(page, demo, "tasks/demo/fig02.html")
    expect(page.locator("#smoke pre")).not_to_be_visible()
    page.locator("#smoke summary").first.click()
    expect(page.locator("#smoke pre")).to_be_visible()


def cut(box: Locator) -> dict[str, int]:
    """Return by how many pixels a box hides its table, and by how many that is too wide."""
    sizes: dict[str, int] = box.evaluate(
        """(box, page) => ({
             right: box.scrollWidth - box.clientWidth,
             below: box.scrollHeight - box.clientHeight,
             wide: box.querySelector("table").offsetWidth - page,
             unseen: box.querySelector("table").offsetWidth ? 0 : 1,
           })""",
        PRINTED_PX,
    )
    return {side: size for side, size in sizes.items() if size > 0}


def test_nothing_is_cut_in_print(browser: Browser, federated: Demo) -> None:
    """Every table is there whole, within the sheet: also what is folded or scrolls on a screen."""
    with browser.new_context(viewport={"width": PRINTED_PX, "height": 700}) as context:
        page = context.new_page()
        open_page(page, federated, "tasks/asymvalley/tab01.html")
        boxes = page.locator(".scroll")
        assert any(cut(box) for box in boxes.all())
        page.emulate_media(media="print")
        assert [cut(box) for box in boxes.all()] == [{}] * boxes.count()
        assert page.evaluate("document.documentElement.scrollWidth") <= PRINTED_PX
        heads = page.locator("table.values thead th")
        assert heads.count() > 15
        for head in heads.all():
            expect(head).to_be_visible()
        assert page.locator("details > :not(summary)").last.is_visible()


def test_print_of_table_1_has_every_head_of_its_columns(page: Page, federated: Demo) -> None:
    """In the PDF itself, as it is printed: of what is claimed, of the layout, of all rows."""
    open_page(page, federated, "tasks/asymvalley/tab01.html")
    texts = page.locator("thead th").evaluate_all("heads => heads.map(h => h.textContent)")
    heads = {"".join(text.split()) for text in texts} - {""}
    assert len(heads) > 25
    sheets = pages_of(page.pdf(prefer_css_page_size=True))
    assert len(sheets) > 3
    assert {head for head in heads if not any(head in sheet for sheet in sheets)} == set()


def test_a_sheet_has_rows_and_a_screen_as_narrow_has_blocks(browser: Browser, demo: Demo) -> None:
    with browser.new_context(viewport={"width": 600, "height": 800}) as context:
        page = context.new_page()
        open_page(page, demo, "tasks/demo/fig02.html")
        row = page.locator("#cpu table.claims tbody tr").first
        assert row.evaluate("row => getComputedStyle(row).display") == "block"
        page.emulate_media(media="print")
        assert row.evaluate("row => getComputedStyle(row).display") == "table-row"


@pytest.mark.parametrize("width", [390, 768])
def test_deviations_and_figures_are_legible_on_a_narrow_screen(
    browser: Browser, demo: Demo, width: int
) -> None:
    """No word of a deviation is off the screen; letters of a figure, 7 pt, are 9 px at least."""
    with browser.new_context(viewport={"width": width, "height": 844}) as context:
        page = context.new_page()
        open_page(page, demo, "tasks/demo/fig02.html")
        cells = (
            page.locator("#cpu").get_by_role("region", name="Deviations at cpu").locator("td, th")
        )
        boxes = [box for each in cells.all() if (box := each.bounding_box()) and box["height"] > 2]
        assert len(boxes) >= 5
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
        picture = page.locator("#cpu img")
        letters = picture.evaluate("i => 7 * (96 / 72) * i.clientWidth / i.naturalWidth")
        assert letters >= 9
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_page_opens_with_what_came_out(page: Page, demo: Demo) -> None:
    open_page(page, demo, "tasks/demo/fig02.html")
    answer = page.locator("p.answer").first
    expect(answer).to_contain_text(
        "Not reproduced: Loss shrinks as density falls: 1.00 \u00b1 0.25"
    )
    expect(answer).to_contain_text("asked: at most \u22120.5 nats")
    expect(answer).to_be_in_viewport()
    open_page(page, demo, "tasks/demo/fig10.html")
    expect(page.locator("p.answer")).to_contain_text("nothing is claimed of it")
