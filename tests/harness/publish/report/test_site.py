"""The report in a real browser: its pages load, read, link, and are the same everywhere."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from harness.declare.profiles import PROFILES
from harness.publish.report import build_report
from harness.publish.report.load import load_papers
from harness.publish.report.site.pages import prose
from tests.harness.publish.report.demo_paper import HOSTILE, make_demo
from tests.harness.publish.report.pages import Demo, contrast, open_page


@pytest.mark.parametrize("path", ["index.html", "tasks/demo/fig02.html", "tasks/demo/fig11.html"])
def test_pages_load_without_errors_or_network(page: Page, demo: Demo, path: str) -> None:
    trouble = open_page(page, demo, path)
    page.wait_for_load_state("networkidle")
    assert trouble == []


def test_task_opens_with_figure_claims_and_command(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.get_by_role("link", name="fig02", exact=True).first.click()
    expect(page).to_have_title("demo/fig02: Loss against density")
    picture = page.locator("#cpu img")
    expect(picture).to_have_attribute("alt", "A line that falls as density grows.")
    assert picture.evaluate("image => image.naturalWidth") > 0
    claims = page.get_by_role("region", name="Claims at cpu")
    row = claims.locator("tr", has_text="Loss grows as density falls.")
    expect(row).to_contain_text("threshold: 0.9 then, 0.5 now")
    expect(row).to_contain_text("0.75 to 1.25")
    expect(page.locator("#cpu pre")).to_contain_text("repro run demo/fig02 --profile cpu")
    expect(page.locator("#cpu")).to_contain_text("DEV-01")
    expect(page.locator("#cpu .origin")).to_contain_text("0123456789ab with uncommitted changes")
    page.get_by_role("link", name="All tasks").click()
    expect(page.locator("#tasks")).to_be_visible()


def test_best_profile_comes_first_and_smoke_is_marked(page: Page, demo: Demo) -> None:
    open_page(page, demo, "tasks/demo/fig02.html")
    sections = page.locator("section")
    assert [sections.nth(i).get_attribute("id") for i in range(2)] == ["cpu", "smoke"]
    expect(sections.nth(1)).to_contain_text("say nothing about the paper's empirical claims")
    expect(sections.nth(0)).not_to_contain_text("say nothing")


def test_table_shows_the_paper_beside_ours(page: Page, demo: Demo) -> None:
    open_page(page, demo, "tasks/demo/fig02.html")
    rows = page.locator("#cpu table.values tbody tr").all_inner_texts()
    cells = [row.split() for row in rows]
    assert cells[0] == ["sp", "1", "3", "2.100", "\u00b1", "0.058", "2.10"]
    assert cells[1][-3:] == ["3.1", "(early", "version)"]
    expect(page.locator("#cpu")).to_contain_text("2 published values at other settings")


def test_printed_table_stands_before_the_raw_rows(page: Page, demo: Demo) -> None:
    open_page(page, demo, "tasks/demo/fig10.html")
    printed = page.locator("#cpu table.printed")
    expect(printed.locator("caption")).to_have_text("Loss, in nats")
    assert printed.locator("tbody tr").all_inner_texts() == [
        HOSTILE, "1\t2.10 \u00b1 0.06 / 2.50t", "0.5\t3.10 \u00b1 0.06 / n",
    ]  # fmt: skip
    raw = page.locator("#cpu table.values")
    expect(raw).not_to_be_visible()
    page.locator("#cpu").get_by_text("All rows behind it").click()
    expect(raw).to_be_visible()
    expect(page.locator("#cpu")).to_contain_text("1 published value at other settings")


def test_broken_task_shows_its_reason(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.get_by_role("link", name="fig11", exact=True).click()
    expect(page.locator(".problem")).to_have_text("Broken: ImportError: no module called 'absent'")


def test_hostile_title_is_text(page: Page, demo: Demo) -> None:
    for path in ("index.html", "tasks/demo/fig10.html"):
        open_page(page, demo, path)
        assert page.title() != "taken"
        expect(page.get_by_text(HOSTILE).first).to_be_visible()


@pytest.mark.parametrize("path", ["index.html", "tasks/demo/fig02.html", "tasks/demo/fig10.html"])
def test_narrow_screen_has_no_sideways_scroll(browser: Browser, demo: Demo, path: str) -> None:
    with browser.new_context(viewport={"width": 320, "height": 640}) as context:
        page = context.new_page()
        open_page(page, demo, path)
        for closed in page.locator("details").all():
            closed.evaluate("details => { details.open = true }")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        boxes = page.locator(".scroll")
        assert boxes.count() > 0
        assert "auto" in boxes.first.evaluate("box => getComputedStyle(box).overflowX")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_colour_schemes(browser: Browser, demo: Demo, scheme: str) -> None:
    with browser.new_context(color_scheme=scheme) as context:  # type: ignore[arg-type]
        page = context.new_page()
        open_page(page, demo, "tasks/demo/fig02.html")
        for badge in page.locator(".badge").all():
            colors = badge.evaluate(
                "b => [getComputedStyle(b).color, getComputedStyle(b).backgroundColor]"
            )
            assert contrast(*colors) >= 4.5, colors


def test_backticks_become_code_and_nothing_else_markup() -> None:
    assert prose("at `cpu` <b>") == "at <code>cpu</code> &lt;b&gt;"
    assert prose("`<script>`") == "<code>&lt;script&gt;</code>"
    assert prose("one ` alone") == "one ` alone"


class Links(HTMLParser):
    """Collects every local address of a page, and the places that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and not value.startswith(("data:", "https:")):
                self.found.append(value)
            if name == "id" and value:
                self.ids.add(value)


def links_of(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text())
    return links


def test_every_local_link_leads_to_a_file_or_a_place_in_it(demo: Demo) -> None:
    pages = list(demo[0].site.rglob("*.html"))
    assert len(pages) == 4
    for page in pages:
        for link in links_of(page).found:
            path, _, place = link.partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), f"{page}: {link}"
            if place and not place.startswith("q="):
                assert place in links_of(target).ids, f"{page}: {link}"


def files_of(site: Path) -> dict[str, bytes]:
    paths = (path for path in site.rglob("*") if path.is_file())
    return {str(path.relative_to(site)): path.read_bytes() for path in paths}


def test_same_results_give_the_same_site_elsewhere(tmp_path: Path, demo: Demo) -> None:
    workspace, library = make_demo(tmp_path / "elsewhere")
    build_report(workspace, load_papers(workspace, library, PROFILES))
    assert files_of(workspace.site) == files_of(demo[0].site)
