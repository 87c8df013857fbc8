"""The README as a code host shows it: what stands on its first screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, Locator, expect

from tests.checkout import ROOT

WIDTH, HEIGHT = 1280, 800
TALL = 950
"""What a browser shows of a page on a screen of 1080 lines."""
STYLE = """
body { margin: 0; font: 16px/1.5 sans-serif; }
main { max-width: COLUMN; margin: 0 auto; padding: 32px 45px; box-sizing: border-box; }
p, pre, table, ul, h1, h2 { margin: 0 0 16px; }
h1, h2 { line-height: 1.25; padding-bottom: .3em; border-bottom: 1px solid #ddd; }
h1 { font-size: 2em } h2 { font-size: 1.5em; margin-top: 24px; }
pre { padding: 16px; font-size: 13.6px; line-height: 1.45; background: #f6f8fa; overflow: auto; }
code { font-size: 13.6px; } :not(pre) > code { padding: .2em .4em; }
table { border-collapse: collapse; display: block; width: max-content; max-width: 100%;
  overflow: auto; }
th, td { padding: 6px 13px; border: 1px solid #ddd; }
img { max-width: 100%; }
img[align=right] { float: right; padding-left: 20px; }
"""
"""As GitHub sets it, but for colours."""
COLUMNS = ("980px", "922px")
"""A file by itself, and below the list of files, beside what the repository is about."""


def front_page(column: str) -> str:
    """Return the README as HTML."""
    text = (ROOT / "README.md").read_text("utf-8")
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    style = STYLE.replace("COLUMN", column)
    return f"<!doctype html><meta charset=utf-8><style>{style}</style><main>{page}</main>"


@pytest.fixture(params=COLUMNS)
def first_screen(browser: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Locator:
    page = browser.new_page(viewport={"width": WIDTH, "height": TALL})
    (tmp_path / "README.html").write_text(
        front_page(request.param).replace("<meta", f'<base href="{ROOT.as_uri()}/"><meta'), "utf-8"
    )
    page.goto((tmp_path / "README.html").as_uri())
    return page.locator("main")


def bottom(part: Locator) -> float:
    """Return where a part of the page ends, in pixels from its top."""
    box = part.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_first_screen_has_commands_papers_a_picture_and_which_command(
    first_screen: Locator,
) -> None:
    papers, needs = first_screen.locator("table").all()
    heads = ["paper", "scale", "not reproduced", "undecided", "reproduced", "no verdict"]
    assert papers.locator("th").all_inner_texts() == heads
    assert papers.locator("tbody tr").count() == 5
    assert needs.locator("th").all_inner_texts() == ["my need", "which command"]
    assert needs.locator("tbody tr").count() >= 8
    fresh = needs.get_by_role("link", name="a fresh machine")
    expect(fresh).to_have_attribute("href", "#on-a-fresh-machine")
    commands, picture = first_screen.locator("pre").first, first_screen.locator("img")
    expect(commands).to_contain_text("make reproduce")
    expect(commands).to_contain_text("make test")
    assert picture.evaluate("image => image.naturalWidth > 0")
    assert bottom(picture) <= bottom(commands) + 20, "the picture stands beside them"
    for part, height in ((commands, HEIGHT), (papers, HEIGHT), (picture, HEIGHT), (needs, TALL)):
        assert bottom(part) <= height, (part, bottom(part))
        assert part.evaluate("part => part.scrollWidth <= part.clientWidth"), "all is seen"


def test_whether_fedsign_beats_fedavg_is_found_right_below(first_screen: Locator) -> None:
    (sentence,) = first_screen.locator("li", has_text="FedSign does not beat FedAvg").all()
    box = sentence.bounding_box()
    assert box is not None and bottom(sentence) <= 2 * HEIGHT and box["height"] <= 100
    expect(sentence).to_contain_text("undecided")
    expect(sentence.get_by_role("link")).to_have_attribute(
        "href", "results/asymvalley/README.md#asymvalley-tab01"
    )
