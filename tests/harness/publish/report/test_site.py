"""The report in a real browser: sort, filter, open a task, on a wide and a narrow screen."""

import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from harness.declare.profiles import PROFILES
from harness.publish.report import build_report
from harness.publish.report.load import load_papers
from harness.publish.report.site import prose
from harness.registry import Library
from harness.store.workspace import Workspace
from tests.harness.publish.report.demo_paper import HOSTILE, make_demo

Demo = tuple[Workspace, Library]

# Chromium as root in a container, and quiet: nothing outside is to be reached.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# A test must not fail because another process has the cores.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no Chromium on this machine: install the package chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1200, "height": 800}) as context:
        yield context.new_page()


def open_page(page: Page, demo: Demo, path: str = "index.html") -> list[str]:
    """Open a page of the site; return the list that collects its errors and requests."""
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("requestfailed", lambda request: trouble.append(request.url))
    page.on("request", lambda r: None if r.url[:5] in ("file:", "data:") else trouble.append(r.url))
    page.goto((demo[0].site / path).as_uri())
    return trouble


def shown(page: Page, column: int) -> list[str]:
    cells = page.locator(f"#tasks tbody tr:visible td:nth-child({column})")
    return [text.strip() for text in cells.all_inner_texts()]


def test_pages_load_without_errors_or_network(page: Page, demo: Demo) -> None:
    for path in ("index.html", "tasks/demo/fig02.html", "tasks/demo/fig11.html"):
        assert open_page(page, demo, path) == []


def test_click_on_a_head_sorts_up_then_down(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    head = page.locator("#tasks th", has_text="item")
    head.get_by_role("button").click()
    up = shown(page, 2)
    assert up == ["fig02", "fig02", "fig10", "fig11", "fig12", "tab01"]
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.get_by_role("button").click()
    assert shown(page, 2) == up[::-1]
    expect(head).to_have_attribute("aria-sort", "descending")


def test_sorting_by_another_column_clears_the_first(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.get_by_role("button", name="item").click()
    page.get_by_role("button", name="profile").focus()
    page.keyboard.press("Enter")
    assert shown(page, 4) == ["cpu", "cpu", "smoke", "", "", ""]
    expect(page.locator("#tasks th[aria-sort=ascending]")).to_have_count(1)


def test_filter_keeps_rows_that_hold_every_word(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.get_by_label("Filter").fill("fig02 CPU")
    assert shown(page, 2) == ["fig02"]
    expect(page.locator("output")).to_have_text("1 of 6 rows")
    page.get_by_label("Filter").fill("")
    assert len(shown(page, 2)) == 6


def test_filter_tells_reproduced_from_not_reproduced(page: Page, demo: Demo) -> None:
    workspace, _ = demo
    open_page(page, demo)
    page.get_by_label("Filter").fill("not_reproduced")
    assert shown(page, 4) == ["cpu"]
    html = (workspace.site / "index.html").read_text()
    changed = html.replace("1 REPRODUCED", "1 INCONCLUSIVE")
    assert changed != html
    page.set_content(changed.replace('src="report.js"', ""))
    page.add_script_tag(path=str(workspace.site / "report.js"))
    page.get_by_label("Filter").fill("reproduced")
    assert shown(page, 4) == []


def test_filter_that_fits_nothing_says_so(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.get_by_label("Filter").fill("nosuchtask")
    expect(page.locator("output")).to_have_text("0 of 6 rows")


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
    expect(row).to_contain_text("0.7516 to 1.248")
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


def test_page_works_without_its_script(browser: Browser, demo: Demo) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        open_page(page, demo)
        assert len(shown(page, 2)) == 6


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


def contrast(front: str, back: str) -> float:
    """Return the WCAG contrast of two `rgb(r, g, b)` colours."""

    def luminance(color: str) -> float:
        channels = [int(part) / 255 for part in color[4:-1].split(",")]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(front), luminance(back)))
    return (high + 0.05) / (low + 0.05)


def test_backticks_become_code_and_nothing_else_markup() -> None:
    assert prose("at `cpu` <b>") == "at <code>cpu</code> &lt;b&gt;"
    assert prose("`<script>`") == "<code>&lt;script&gt;</code>"
    assert prose("one ` alone") == "one ` alone"


class Links(HTMLParser):
    """Collects every local address of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and not value.startswith(("data:", "https:", "#")):
                self.found.append(value)


def test_every_local_link_leads_to_a_file(demo: Demo) -> None:
    site = demo[0].site
    pages = list(site.rglob("*.html"))
    assert len(pages) == 4
    for page in pages:
        links = Links()
        links.feed(page.read_text())
        for link in links.found:
            assert (page.parent / link).is_file(), f"{page}: {link}"


def files_of(site: Path) -> dict[str, bytes]:
    paths = (path for path in site.rglob("*") if path.is_file())
    return {str(path.relative_to(site)): path.read_bytes() for path in paths}


def test_same_results_give_the_same_site_elsewhere(tmp_path: Path, demo: Demo) -> None:
    workspace, library = make_demo(tmp_path / "elsewhere")
    build_report(workspace, load_papers(workspace, library, PROFILES))
    assert files_of(workspace.site) == files_of(demo[0].site)
