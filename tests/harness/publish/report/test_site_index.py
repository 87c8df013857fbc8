"""The site's first page in a real browser: cards, sort, filter, address, a narrow screen."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest
from harness.publish.report.site.cards import card
from harness.publish.report.site.overview import overview_context
from playwright.sync_api import Browser, Locator, Page, expect

from harness.declare.profiles import PROFILES
from harness.declare.scope import ThresholdFrom
from harness.declare.verdict import Word
from harness.measure.goals import Baseline
from harness.publish.report.load import Paper, Sources, load_papers
from harness.publish.report.site.pages import render
from tests.harness.measure.hand_made_goals import document_of, goal_of
from tests.harness.publish.report.pages import Demo, contrast, luminance, open_page, shown

IN_A_BAR = ("REPRODUCED", "NOT_REPRODUCED", "INCONCLUSIVE", "OUT_OF_PROFILE", "NOT_RUN", "ERROR")


@pytest.fixture(scope="module")
def papers(demo: Demo) -> list[Paper]:
    return load_papers(*demo, PROFILES)


def rows_with(papers: list[Paper], profile: str, word: Word) -> list[tuple[str, str]]:
    """Return item and profile of the runs of which a check or a claim has a verdict."""
    return [
        (entry.item.id, run.profile)
        for paper in papers
        for entry in paper.entries
        for run in entry.runs
        if run.profile == profile
        and any(r.verdict == word and r.decides and r.kind in ("check", "claim") for r in run.rows)
    ]


def test_click_on_a_head_sorts_up_then_down(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    head = page.locator("#tasks th", has_text="item")
    head.get_by_role("button").click()
    up = shown(page, 2)
    assert up == ["fig02", "fig10", "fig11", "fig12", "tab01"]
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.get_by_role("button").click()
    assert shown(page, 2) == up[::-1]
    expect(head).to_have_attribute("aria-sort", "descending")


def test_sorting_by_another_column_clears_the_first(page: Page, demo: Demo) -> None:
    open_page(page, demo, "index.html#smoke=1")
    heads = page.locator("#tasks thead")
    heads.get_by_role("button", name="item").click()
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


def test_filter_keeps_rows_that_hold_every_word(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.get_by_role("searchbox").fill("fig02 CPU")
    assert shown(page, 2) == ["fig02"]
    expect(page.locator("output")).to_have_text("1 of 6 rows")
    page.get_by_role("searchbox").fill("")
    assert len(shown(page, 2)) == 5


def test_filter_searches_what_claims_say(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.get_by_role("searchbox").fill("density falls")
    assert shown(page, 2) == ["fig02"]


def test_filter_tells_reproduced_from_not_reproduced(page: Page, demo: Demo) -> None:
    """Also where another row's claim speaks of that word."""
    workspace, _ = demo
    html = (workspace.site / "index.html").read_text()
    changed = html.replace(" REPRODUCED NOT_", " INCONCLUSIVE NOT_")
    changed = changed.replace("1 REPRODUCED", "1 INCONCLUSIVE")
    changed = changed.replace('data-statements="', 'data-statements="cpu not_reproduced ')
    assert changed.count("INCONCLUSIVE NOT_") == changed.count("1 INCONCLUSIVE") == 1
    page.set_content(changed.replace('src="report.js"', ""))
    page.add_script_tag(path=str(workspace.site / "report.js"))
    page.get_by_role("searchbox").fill("not_reproduced")
    assert list(zip(shown(page, 2), shown(page, 4), strict=True)) == [("fig02", "cpu")]
    page.get_by_role("searchbox").fill("reproduced")
    assert shown(page, 4) == []


def test_filter_that_fits_nothing_says_so(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.get_by_role("searchbox").fill("nosuchtask")
    expect(page.locator("output")).to_have_text("0 of 6 rows")


@pytest.mark.parametrize("word", ["NOT_REPRODUCED", "REPRODUCED", "HOLDS", "INCONCLUSIVE"])
def test_address_restores_the_filter(
    page: Page, demo: Demo, papers: list[Paper], word: str
) -> None:
    open_page(page, demo, f"index.html#q=cpu+{word.lower()}")
    expect(page.get_by_role("searchbox")).to_have_value(f"cpu {word.lower()}")
    found = list(zip(shown(page, 2), shown(page, 4), strict=True))
    assert found == rows_with(papers, "cpu", Word(word))


def test_address_follows_what_is_typed(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    page.get_by_role("searchbox").fill("cpu not_reproduced")
    expect(page).to_have_url(re.compile(r"index\.html#q=cpu\+not_reproduced$"))
    # As by a link to it, while the page is open; and a place on the page is no filter.
    page.evaluate("location.hash = '#q=fig12'")
    expect(page.locator("output")).to_have_text("1 of 6 rows")
    page.evaluate("location.hash = '#main'")
    assert shown(page, 2) == ["fig12"]


def test_link_to_rows_leads_to_them_and_typing_does_not_move_the_page(
    browser: Browser, demo: Demo
) -> None:
    with browser.new_context(viewport={"width": 800, "height": 300}) as context:
        page = context.new_page()
        open_page(page, demo, "index.html#q=not_reproduced")
        expect(page.locator("#tasks tbody tr:visible")).to_be_in_viewport()
        page.evaluate("scrollTo(0, 0)")
        page.get_by_role("searchbox").evaluate(
            "input => { input.value = 'cpu'; input.dispatchEvent(new Event('input')) }"
        )
        assert page.evaluate("scrollY") == 0
        page.evaluate("location.hash = '#q=fig12'")
        expect(page.locator("#tasks tbody tr:visible")).to_be_in_viewport()


def test_buttons_put_a_word_into_the_filter_and_take_it_out(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    verdicts = page.get_by_role("group", name="Filter by verdict")
    pressed = verdicts.get_by_role("button", name="NOT_REPRODUCED")
    pressed.click()
    expect(pressed).to_have_attribute("aria-pressed", "true")
    assert shown(page, 2) == ["fig02"]
    page.get_by_role("button", name="demo", exact=True).click()
    verdicts.get_by_role("button", name="REPRODUCED", exact=True).click()
    expect(page.get_by_role("searchbox")).to_have_value("demo reproduced")
    page.get_by_role("button", name="demo", exact=True).click()
    expect(page.get_by_role("searchbox")).to_have_value("reproduced")


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        yield context.new_page()


def test_verdicts_are_on_the_screen_of_a_phone(phone: Page, demo: Demo) -> None:
    open_page(phone, demo, "index.html#smoke=1")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    badges = phone.locator("#tasks tbody tr:visible td.verdicts").locator("*")
    boxes = [box for each in badges.all() if (box := each.bounding_box())]
    assert len(boxes) >= 6
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)


def open_goals(page: Page, demo: Demo, papers: list[Paper], note: str) -> Locator:
    """Return the cells of a benchmark's row."""
    goals = [Baseline(document=document_of(goal_of("list", 0.4, note=note)))]
    html = render("index.html.j2", overview_context(papers, goals))
    page.set_content(html.replace('href="style.css"', ""))
    page.add_style_tag(path=str(demo[0].site / "style.css"))
    return page.get_by_role("region", name="Measured on").locator("td:visible")


def test_goals_are_on_the_screen_of_a_phone(phone: Page, demo: Demo, papers: list[Paper]) -> None:
    cells = open_goals(phone, demo, papers, "long " * 90)
    boxes = [box for each in cells.all() if (box := each.bounding_box())]
    assert len(boxes) >= 5
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)


def test_a_goal_is_on_one_line_beside_a_long_setting(
    page: Page, demo: Demo, papers: list[Paper]
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    cells = open_goals(page, demo, papers, "all of `repro list`, " * 30)
    goal = cells.get_by_text("at most 0.5 s", exact=True)
    lines = "cell => { const all = document.createRange(); all.selectNodeContents(cell);"
    assert goal.evaluate(f"{lines} return all.getClientRects().length }}") == 1
    assert cells.last.locator("code").count() == 30


def test_page_works_without_its_script(browser: Browser, demo: Demo) -> None:
    """What nothing would answer to is not shown; the box for smoke is the style sheet's."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        open_page(page, demo)
        assert len(shown(page, 2)) == 5
        expect(page.get_by_role("searchbox")).not_to_be_visible()
        page.get_by_label("with smoke").check()
        assert len(shown(page, 2)) == 6
        expect(page.locator(".card")).to_contain_text("1 reproduced")


def test_card_shows_verdicts_as_a_bar_and_in_words(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    shown_card = page.get_by_role("article", name="A demonstration, made up for tests")
    # The bar says nothing to who cannot see it: the words below say the same.
    expect(shown_card.locator(".key").first).to_have_text(
        "Claims at cpu 1 not reproduced, 1 reproduced", use_inner_text=True
    )
    parts = shown_card.locator(".bar span")
    widths = [box["width"] for each in parts.all() if (box := each.bounding_box())]
    assert len(widths) == 2
    assert widths[0] == pytest.approx(widths[1], abs=1)
    assert shown_card.locator(".bar").get_attribute("aria-hidden") == "true"
    expect(shown_card.get_by_role("link", name="arXiv 2405.00000")).to_be_visible()


def test_card_shows_a_figure_that_leads_to_its_page(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    picture = page.locator(".thumbnails img")
    expect(picture).to_have_count(1)
    expect(picture).to_have_attribute("alt", "A line that falls as density grows.")
    expect(picture).to_have_attribute("loading", "lazy")
    picture.click()
    expect(page).to_have_title("demo/fig02: Loss against density")


def test_a_collection_that_is_no_paper_is_counted_apart(papers: list[Paper]) -> None:
    meta = papers[0].meta.model_copy(update={"authors": [], "title": "GPU kernels"})
    html = render("index.html.j2", overview_context([*papers, replace(papers[0], meta=meta)], []))
    lead = " ".join(html.split('class="lead">')[1].split())
    assert lead.startswith("5 tables, figures and studies of 1 paper, and 5 of GPU kernels, run")


def test_verdicts_stand_worst_first_in_card_and_row(page: Page, demo: Demo) -> None:
    open_page(page, demo)
    bar = page.locator(".bar span").evaluate_all("parts => parts.map((part) => part.className)")
    assert bar == ["not_reproduced", "reproduced"]
    badges = page.locator("#tasks tr:visible", has_text="Loss against").locator("td > .badge")
    assert badges.all_inner_texts() == ["1 NOT_REPRODUCED", "1 REPRODUCED"]


def test_cards_in_print_stand_below_each_other(papers: list[Paper], page: Page, demo: Demo) -> None:
    """Side by side, the tallest was cut; and a button in a head is not painted again."""
    html = render("index.html.j2", overview_context([papers[0]] * 3, []))
    page.set_content(html.replace('href="style.css"', ""))
    page.add_style_tag(path=str(demo[0].site / "style.css"))
    page.emulate_media(media="print")
    boxes = [box for each in page.locator(".card").all() if (box := each.bounding_box())]
    assert len(boxes) == 3
    for before, after in pairwise(boxes):
        assert after["y"] >= before["y"] + before["height"]
    assert (
        page.locator("th button").first.evaluate("b => getComputedStyle(b).display") == "contents"
    )


def test_card_begins_with_headlines_where_there_are_any(papers: list[Paper]) -> None:
    context = overview_context(papers, [])
    assert 'class="headline"' not in render("index.html.j2", context)
    context["cards"] = [card(papers[0], ["It holds at `cpu`, <1 of 2>."])]
    html = render("index.html.j2", context)
    assert html.index("It holds at <code>cpu</code>, &lt;1 of 2&gt;.") < html.index('class="bar"')


def test_card_says_beside_the_verdicts_how_much_comes_from_older_code(
    papers: list[Paper],
) -> None:
    older = replace(papers[0], sources={"cpu": Sources(num_trials=4, num_stale=3)})
    html = render("index.html.j2", {**overview_context([older], []), "cards": [card(older)]})
    told = html.index("3 of 4 trials come from older code.</p>")
    assert html.index('class="bar"') < told < html.index("What that rests on")


def test_card_of_a_paper_that_cannot_be_read_says_why(papers: list[Paper]) -> None:
    broken = replace(papers[0], entries=(), sources={}, problem="paper.toml: <no title>")
    html = render("index.html.j2", overview_context([broken], []))
    assert "Broken: paper.toml: &lt;no title&gt;" in html


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_parts_of_a_bar_differ_in_grey(browser: Browser, demo: Demo, scheme: str) -> None:
    with browser.new_context(color_scheme=scheme) as context:  # type: ignore[arg-type]
        page = context.new_page()
        open_page(page, demo)
        colors = page.locator(".bar").first.evaluate(
            """(bar, words) => words.map((word) => {
                 const part = bar.appendChild(document.createElement("span"));
                 part.className = word.toLowerCase();
                 return getComputedStyle(part).backgroundColor;
               })""",
            [*IN_A_BAR],
        )
        assert len(set(colors)) == len(IN_A_BAR)
        bright = sorted(colors, key=luminance)
        assert min(contrast(*pair) for pair in pairwise(bright)) >= 1.5, colors


def test_legend_explains_every_word_of_a_claim(page: Page, demo: Demo) -> None:
    open_page(page, demo, "index.html#legend")
    legend = page.locator("#legend")
    expect(legend).to_be_visible()
    sources = get_args(ThresholdFrom)
    for word in (
        *Word,
        *PROFILES,
        *sources,
        "Check",
        "Claim",
        "Older code",
        "sealed",
        "late",
        "renewed",
    ):
        expect(legend.get_by_text(word, exact=True).first).to_be_visible()
