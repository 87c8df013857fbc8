"""The README as a code host shows it: what stands on its first screen."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, Locator, expect

from tests.checkout import ROOT

WIDTH, HEIGHT = 1280, 800
STYLE = """
body { margin: 0; font: 16px/1.5 sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 32px 45px; box-sizing: border-box; }
p, pre, table, ul, h1, h2 { margin: 0 0 16px; }
h1, h2 { line-height: 1.25; padding-bottom: .3em; border-bottom: 1px solid #ddd; }
h1 { font-size: 2em } h2 { font-size: 1.5em; margin-top: 24px; }
pre { padding: 16px; font-size: 13.6px; line-height: 1.45; background: #f6f8fa; }
table { border-collapse: collapse } th, td { padding: 6px 13px; border: 1px solid #ddd; }
img { max-width: 100%; }
"""
"""As GitHub sets it, but for colours."""


def front_page() -> str:
    """Return the README as HTML; pictures are not loaded."""
    text = MarkdownIt("commonmark").enable("table").render((ROOT / "README.md").read_text("utf-8"))
    return f"<style>{STYLE}</style><main>{text.replace('<img src=', '<img alt=')}</main>"


@pytest.fixture
def first_screen(browser: Browser) -> Locator:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_content(front_page())
    return page.locator("main")


def test_first_screen_has_both_commands_and_the_whole_table(first_screen: Locator) -> None:
    table = first_screen.locator("table").first
    heads = ["paper", "scale", "not reproduced", "undecided", "reproduced"]
    heads += ["out of scale or not run"]
    assert table.locator("th").all_inner_texts() == heads
    assert table.locator("tbody tr").count() == 5
    commands = first_screen.locator("pre").first
    expect(commands).to_contain_text("make reproduce")
    expect(commands).to_contain_text("make test")
    for part in (commands, table):
        box = part.bounding_box()
        assert box is not None and box["y"] + box["height"] <= HEIGHT, box


def test_first_screen_leads_to_the_picture_and_to_which_command(first_screen: Locator) -> None:
    for name, target in (
        ("a picture", "A figure"),
        ("which command for my need", "Which command for my need"),
        ("what a fresh machine needs", "On a fresh machine"),
    ):
        link, head = first_screen.get_by_role("link", name=name), first_screen.locator("h2")
        box = link.bounding_box()
        assert box is not None and box["y"] + box["height"] <= HEIGHT, box
        assert link.get_attribute("href") == "#" + target.lower().replace(" ", "-")
        assert target in head.all_inner_texts()
    assert first_screen.locator("h2:text('A figure') + p img").count() == 1


def test_whether_fedsign_beats_fedavg_is_found_right_below(first_screen: Locator) -> None:
    (sentence,) = first_screen.locator("li", has_text="FedSign does not beat FedAvg").all()
    box = sentence.bounding_box()
    assert box is not None and box["y"] + box["height"] <= 2 * HEIGHT and box["height"] <= 100
    expect(sentence).to_contain_text("undecided")
    expect(sentence.get_by_role("link")).to_have_attribute(
        "href", "results/asymvalley/README.md#asymvalley-tab01"
    )
