"""The site: its files and links, and what a reader does with its pages in a real browser."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from harness.publish.report.write import prose, render, write_site
from tests.harness.publish.report.demo_paper import HOSTILE
from tests.harness.publish.report.pages import Demo, open_page, page_of, shown

PAPER = "demo.html"


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
    assert len(pages) == 2
    for page in pages:
        links = links_of(page)
        assert len(links.ids) == len(set(links.ids)), page
        for link in links.found:
            path, _, place = link.partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), f"{page}: {link}"
            if place:
                assert place in links_of(target).ids, f"{page}: {link}"


def test_the_guide_is_linked_where_it_is(own_demo: Demo) -> None:
    index, guide = (own_demo[0].site / name for name in ("index.html", "docs/index.html"))
    assert "docs/index.html" not in links_of(index).found
    guide.parent.mkdir()
    guide.touch()
    write_site(own_demo[0], [page_of(own_demo)])
    assert "docs/index.html" in links_of(index).found


def test_backticks_become_code_and_nothing_else_markup(demo: Demo) -> None:
    assert prose("at `cpu` <b>") == "at <code>cpu</code> &lt;b&gt;"
    assert prose("one ` alone") == "one ` alone"
    page = page_of(demo)
    (deviation,) = page.deviations
    told = deviation.model_copy(update={"what": "at `cpu` <alone>"})
    html = render("paper.html.j2", page=replace(page, deviations=(told,)))
    assert "at <code>cpu</code> &lt;alone&gt;" in html


@pytest.mark.parametrize("path", ["index.html", PAPER])
def test_pages_load_without_errors_or_network(page: Page, demo: Demo, path: str) -> None:
    trouble = open_page(page, demo, path)
    page.wait_for_load_state("networkidle")
    assert trouble == []
    assert page.title() != "taken"
    expect(page.get_by_text(HOSTILE).first).to_be_visible()


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        yield context.new_page()


@pytest.mark.parametrize("path", ["index.html", PAPER])
def test_a_phone_scrolls_no_page_sideways(phone: Page, demo: Demo, path: str) -> None:
    open_page(phone, demo, path)
    phone.locator("details").evaluate_all("all => all.forEach(each => { each.open = true })")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    boxes = [
        box for each in phone.locator(".claims li, .mark").all() if (box := each.bounding_box())
    ]
    assert boxes and all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)


def test_a_claim_is_reached_and_read(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    expect(page.locator(".card")).to_contain_text("1 supported, 1 contradicted, 1 undecided")
    assert page.locator(".card img").evaluate("image => image.naturalWidth") > 0
    assert page.locator(".bar span").count() == 4
    page.get_by_role("link", name="demo/fig02").click()
    expect(page.locator("p.answer")).to_contain_text("It grows: by 1.00 \u00b1 0.24")
    expect(page.locator("#fig02")).to_be_in_viewport()
    picture = page.locator("#fig02 img").first
    expect(picture).to_have_attribute("alt", "A line that falls as density grows.")
    marks = page.locator("#fig02 .claims .mark:visible").all_inner_texts()
    assert marks == ["✘", "?", "?", "✔", "–"]  # noqa: RUF001
    for told in ("DEV-01", "repro run demo/fig02 --profile cpu", "At smoke, which tests"):
        expect(page.locator("#fig02")).to_contain_text(told)
    expect(page.get_by_text("repro run demo/fig02 --profile smoke")).not_to_be_visible()
    expect(page.locator("#fig10 table.printed caption")).to_have_text("Loss, in nats")
    link = page.get_by_role("link", name="All rows as CSV").first
    assert (demo[0].site / str(link.get_attribute("href"))).is_file()


def test_filter_and_address_say_the_same(page: Page, demo: Demo) -> None:
    open_page(page, demo, "index.html#q=demo+contradicted")
    box = page.get_by_role("searchbox")
    expect(box).to_have_value("demo contradicted")
    assert shown(page) == ["✘"]
    box.fill("density falls")
    assert shown(page) == ["✘", "✔"]
    expect(page).to_have_url(re.compile(r"index\.html#q=density\+falls$"))
    expect(page.locator("output")).to_have_text("2 of 5 claims")
    box.fill("nosuchclaim")
    assert shown(page) == [] and page.locator("#claims > li:visible").count() == 0
    # As by a link to it, while the page is open; and a place on the page is no filter.
    page.evaluate("location.hash = '#q=supported'")
    expect(page.locator("output")).to_have_text("1 of 5 claims")
    page.evaluate("location.hash = '#main'")
    assert shown(page) == ["✔"]
    box.fill("")
    buttons = page.get_by_role("group", name="Filter by verdict")
    buttons.get_by_role("button", name="contradicted").click()
    page.get_by_role("button", name="demo", exact=True).click()
    expect(box).to_have_value("contradicted demo")
    buttons.get_by_role("button", name="untested").click()
    expect(box).to_have_value("demo untested")


def test_page_works_without_its_script(browser: Browser, demo: Demo) -> None:
    """What nothing would answer to is not shown."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        open_page(page, demo)
        assert len(shown(page)) == 5
        expect(page.get_by_role("searchbox")).not_to_be_visible()
