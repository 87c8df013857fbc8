"""The site: its files and links, and what a reader does with its pages in a real browser."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from harness.declare.profiles import PROFILES
from harness.publish.report.load import load_papers
from harness.publish.report.site.contexts import overview_context, task_context
from harness.publish.report.site.pages import prose, render, write_site
from tests.harness.publish.report.demo_paper import HOSTILE, make_demo
from tests.harness.publish.report.pages import Demo, contrast, open_page, paper_of, shown, with_rows

FIG02, FIG10 = "tasks/demo/fig02.html", "tasks/demo/fig10.html"


class Links(HTMLParser):
    """Collects every local address of a page, and the places that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and not value.startswith(("data:", "https:")):
                self.found.append(value)
            if name == "id" and value:
                self.ids.append(value)


def links_of(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text())
    return links


def test_every_local_link_leads_to_a_file_or_a_place_in_it(demo: Demo) -> None:
    pages = list(demo[0].site.rglob("*.html"))
    assert len(pages) == 4
    for page in pages:
        links = links_of(page)
        assert len(links.ids) == len(set(links.ids)), page
        for link in links.found:
            path, _, place = link.partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), f"{page}: {link}"
            if place and not place.startswith("q="):
                assert place in links_of(target).ids, f"{page}: {link}"


def files_of(site: Path) -> dict[str, bytes]:
    paths = (path for path in site.rglob("*") if path.is_file())
    return {str(path.relative_to(site)): path.read_bytes() for path in paths}


def test_equal_results_give_an_equal_site_elsewhere(tmp_path: Path, demo: Demo) -> None:
    workspace, library = make_demo(tmp_path / "elsewhere")
    write_site(workspace, load_papers(workspace, library, PROFILES))
    found = files_of(workspace.site)
    assert found == files_of(demo[0].site)
    table = demo[0].root / "results" / "demo" / "fig02.cpu.csv"
    assert found["data/demo/fig02.cpu.csv"] == table.read_bytes()


def test_backticks_become_code_and_nothing_else_markup() -> None:
    assert prose("at `cpu` <b>") == "at <code>cpu</code> &lt;b&gt;"
    assert prose("`<script>`") == "<code>&lt;script&gt;</code>"
    assert prose("one ` alone") == "one ` alone"


def test_a_reason_is_text_with_code(demo: Demo) -> None:
    paper = with_rows(paper_of(demo), lambda row: replace(row, reason="at `cpu` <alone>"))
    entry = paper.entries[0]
    html = render("task.html.j2", task_context(paper, entry))
    assert "At <code>cpu</code> &lt;alone&gt;" in html
    waits = replace(entry, runs=(), waits="`make gpu` runs it")
    for name, context in (
        ("task.html.j2", task_context(paper, waits)),
        ("index.html.j2", overview_context([replace(paper, entries=(waits,))], [])),
    ):
        assert "ot run: <code>make gpu</code> runs it" in render(name, context)


@pytest.mark.parametrize("path", ["index.html", FIG02, FIG10, "tasks/demo/fig11.html"])
def test_pages_load_without_errors_or_network(page: Page, demo: Demo, path: str) -> None:
    trouble = open_page(page, demo, path)
    page.wait_for_load_state("networkidle")
    assert trouble == []
    assert page.title() != "taken"
    if path in ("index.html", FIG10):
        expect(page.get_by_text(HOSTILE).first).to_be_visible()


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        yield context.new_page()


@pytest.mark.parametrize("path", ["index.html#smoke=1", FIG02, FIG10])
def test_a_phone_scrolls_no_page_sideways(phone: Page, demo: Demo, path: str) -> None:
    open_page(phone, demo, path)
    phone.locator("details").evaluate_all("all => all.forEach(each => { each.open = true })")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    told = phone.locator("#tasks tbody tr:visible td.verdicts, .claims li, .stacked td")
    boxes = [box for each in told.all() if (box := each.bounding_box())]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    scrolled = phone.locator(".scroll").first
    assert scrolled.evaluate("box => getComputedStyle(box).overflowX") == "auto"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_colour_schemes(browser: Browser, demo: Demo, scheme: str) -> None:
    with browser.new_context(color_scheme=scheme) as context:  # type: ignore[arg-type]
        page = context.new_page()
        open_page(page, demo, FIG02)
        classes = page.locator(".badge").evaluate_all("all => all.map(each => each.className)")
        words = {"supported", "contradicted", "undecided", "untested", "holds"}
        assert {each.split()[1] for each in classes} == words
        for badge in page.locator(".badge").all():
            colors = badge.evaluate(
                "b => [getComputedStyle(b).color, getComputedStyle(b).backgroundColor]"
            )
            assert contrast(*colors) >= 4.5, colors


def test_a_task_is_reached_and_read(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.get_by_role("link", name="fig02", exact=True).first.click()
    expect(page).to_have_title("demo/fig02: Loss against density")
    expect(page.locator("p.answer")).to_contain_text("Sparse nets lose. Ours: 1.00 \u00b1 0.25")
    picture = page.locator("#cpu img")
    expect(picture).to_have_attribute("alt", "A line that falls as density grows.")
    assert picture.evaluate("image => image.naturalWidth") > 0
    sections = page.locator("section").evaluate_all("all => all.map(each => each.id)")
    assert sections == ["cpu", "smoke"]
    words = page.locator("#cpu .claims .badge:visible").all_inner_texts()
    marks = ["✘ contradicted", "? undecided", "? undecided", "✔ supported", "– untested"]  # noqa: RUF001
    assert words == marks
    rows = page.locator("#cpu table.values tbody tr").all_inner_texts()
    assert rows[0].split() == ["sp", "1", "3", "2.100", "\u00b1", "0.058", "2.10"]
    assert rows[1].split()[-3:] == ["3.1", "(early", "version)"]
    for told in ("DEV-01", "repro run demo/fig02 --profile cpu", "2 published values at other"):
        expect(page.locator("#cpu")).to_contain_text(told)
    expect(page.locator("#smoke pre")).not_to_be_visible()
    page.locator("#smoke summary").first.click()
    expect(page.locator("#smoke pre")).to_be_visible()
    expect(page.locator("#smoke")).to_contain_text("say nothing about the paper's empirical claims")
    page.get_by_role("link", name="Next: demo/fig10").click()
    expect(page.locator("#cpu table.printed caption")).to_have_text("Loss, in nats")
    page.get_by_role("link", name="Those of demo").click()
    expect(page.get_by_role("searchbox")).to_have_value("demo")


@pytest.mark.parametrize("claim", ["cpu-grows", "cpu-rows", "smoke-rows"])
def test_every_claim_has_an_address_that_unfolds_it(page: Page, demo: Demo, claim: str) -> None:
    open_page(page, demo, f"{FIG02}#claims-at-{claim}")
    row = page.locator(f"li#claims-at-{claim}")
    expect(row).to_be_in_viewport()
    link = row.get_by_role("link", name="Link to claim")
    expect(link).to_have_attribute("href", f"#claims-at-{claim}")


def test_a_head_sorts_up_then_down(page: Page, demo: Demo) -> None:
    open_page(page, demo, "index.html#smoke=1")
    heads = page.locator("#tasks thead")
    heads.get_by_role("button", name="item").click()
    up = ["fig02", "fig02", "fig10", "fig11", "fig12", "tab01"]
    assert shown(page, 2) == up
    heads.get_by_role("button", name="item").click()
    assert shown(page, 2) == up[::-1]
    heads.get_by_role("button", name="profile").focus()
    page.keyboard.press("Enter")
    assert shown(page, 4) == ["cpu", "cpu", "smoke", "", "", ""]
    expect(page.locator("#tasks th[aria-sort=ascending]")).to_have_count(1)


def test_smoke_is_shown_when_it_is_asked_for(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    assert "smoke" not in shown(page, 4)
    expect(page.locator("output")).to_have_text("5 of 6 rows")
    page.get_by_label("with smoke").check()
    assert "smoke" in shown(page, 4)
    expect(page).to_have_url(re.compile(r"#smoke=1$"))
    page.get_by_label("with smoke").uncheck()
    page.get_by_role("searchbox").fill("smoke fig02")
    assert shown(page, 4) == ["smoke"]


def test_filter_and_address_say_the_same(page: Page, demo: Demo) -> None:
    open_page(page, demo, "index.html#q=cpu+contradicted")
    box = page.get_by_role("searchbox")
    expect(box).to_have_value("cpu contradicted")
    assert shown(page, 2) == ["fig02"]
    box.fill("density falls")
    assert shown(page, 2) == ["fig02"]
    expect(page).to_have_url(re.compile(r"index\.html#q=density\+falls$"))
    # A verdict finds the rows that have it, and no word of a claim.
    for word, rows in (("fails", []), ("holds", ["fig02"]), ("nosuchtask", [])):
        box.fill(f"cpu {word}")
        assert shown(page, 2) == rows, word
    # As by a link to it, while the page is open; and a place on the page is no filter.
    page.evaluate("location.hash = '#q=fig12'")
    expect(page.locator("output")).to_have_text("1 of 6 rows")
    page.evaluate("location.hash = '#main'")
    assert shown(page, 2) == ["fig12"]
    box.fill("")
    button = page.get_by_role("group", name="Filter by verdict").get_by_role("button")
    button.get_by_text("CONTRADICTED", exact=True).click()
    page.get_by_role("button", name="demo", exact=True).click()
    expect(box).to_have_value("contradicted demo")
    button.get_by_text("HOLDS").click()
    expect(box).to_have_value("demo holds")


def test_page_works_without_its_script(browser: Browser, demo: Demo) -> None:
    """What nothing would answer to is not shown; the box for smoke is the style sheet's."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        open_page(page, demo)
        assert len(shown(page, 2)) == 5
        expect(page.get_by_role("searchbox")).not_to_be_visible()
        page.get_by_label("with smoke").check()
        assert len(shown(page, 2)) == 6
        expect(page.locator(".card")).to_contain_text("4 claims: ✔ 1 ✘ 1 ? 1 – 1")  # noqa: RUF001
