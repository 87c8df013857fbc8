"""The site of what is committed in a real browser: its rows are its verdicts, nothing is cut.

Of one paper, since all of them take most of a minute; the commit draws it, and pages to print.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.publish.report.site.overview import overview_context
from playwright.sync_api import Browser, Page

from harness.measure.machine import source_state
from harness.publish.report import build_report
from harness.publish.report.load import Paper, Run, load_papers
from harness.registry import Library, load_registry, walk_experiments
from harness.store.workspace import Workspace
from tests.checkout import ROOT
from tests.harness.publish.report.pages import shown
from tests.harness.publish.report.test_site_task import PRINTED_PX, cut

PAPERS = ("asymvalley", "fg2u", "lisa", "paro", "supar")
WORDS = ("not_reproduced", "reproduced", "inconclusive", "out_of_profile", "not_run", "holds")
NUM_PRINTED = 6
LEAST_THUMBNAIL_PX = 150
LONG_NAME = "static_linear_cross_entropy"


def drawn_first(name: str) -> str:
    """Return a key that sorts names in an order that nobody picked: another with each commit."""
    return hashlib.sha256(f"{source_state().commit} {name}".encode()).hexdigest()


@pytest.fixture(scope="module")
def paper() -> str:
    return min(PAPERS, key=drawn_first)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, paper: str) -> Path:
    workspace, library = committed(paper, tmp_path_factory.mktemp("committed"))
    build_report(workspace, load_papers(workspace, library, ["cpu"]))
    return workspace.site


def committed(paper: str, root: Path) -> tuple[Workspace, Library]:
    """Return a workspace at `root` with what is committed, and one paper's tasks."""
    for name in ("results", "figures"):
        (root / name).symlink_to(ROOT / name)
    whole, library = load_registry(), Library()
    library.papers[paper] = whole.papers[paper]
    for name, task in whole.tasks.items():
        if task.paper == paper:
            library.tasks[name] = task
            for experiment in walk_experiments(task):
                library.experiments[experiment.id] = experiment
    return Workspace(root), library


def decided(paper: str, word: str) -> list[dict[str, Any]]:
    """Return a paper's verdicts at cpu on checks and its own claims, as they are committed."""
    rows = json.loads((ROOT / "results" / "verdicts.json").read_text(encoding="utf-8"))
    return [
        row
        for row in rows
        if (row["profile"], row["verdict"]) == ("cpu", word.upper())
        and row["task"].startswith(f"{paper}/")
        and row["decides"]
        and not (row["own_question"] or row["half_of"])
    ]


@pytest.mark.parametrize("word", WORDS)
def test_an_address_shows_as_many_rows_as_there_are_such_verdicts(
    page: Page, site: Path, paper: str, word: str
) -> None:
    """A row per task of theirs, with their number."""
    page.goto(f"{(site / 'index.html').as_uri()}#q=cpu+{word}")
    wanted = Counter(row["task"] for row in decided(paper, word))
    tasks = [f"{paper}/{item}" for item in shown(page, 2)]
    rows = page.locator("#tasks tbody tr:visible").all()
    badges = [row.locator(f".badge.{word}").all_inner_texts() for row in rows]
    counts = [sum(int(text.split()[0]) for text in texts) for texts in badges]
    assert dict(zip(tasks, counts, strict=True)) == wanted
    assert page.locator("output").inner_text().startswith(f"{len(wanted)} of ")


@pytest.mark.parametrize("smoke", [False, True])
def test_what_was_not_run_is_found_by_the_scale_that_its_verdicts_have(
    tmp_path: Path, smoke: bool
) -> None:
    """Of LISA, some of whose tables wait for data or a card; also where smoke alone was run."""
    workspace, library = committed("lisa", tmp_path)
    papers = load_papers(workspace, library, ["cpu"])
    if smoke:
        papers = [with_smoke(paper) for paper in papers]
    rows = overview_context(papers, [])["rows"]
    for word in WORDS:
        found = [
            f"{row['paper']}/{row['word']}"
            for row in rows
            if {"cpu", word.upper()} <= {row["profile"], *row["words"]}
        ]
        wanted = {row["task"] for row in decided("lisa", word)}
        assert wanted and (len(found), set(found)) == (len(wanted), wanted), word


def with_smoke(paper: Paper) -> Paper:
    """Return a paper of which every task was run at smoke as well."""
    smoke = Run(profile="smoke", rows=(), deviations=())
    return replace(
        paper, entries=tuple(replace(e, runs=(*e.runs, smoke)) for e in paper.entries if e.task)
    )


def test_every_block_of_commands_has_a_button_that_copies_it(page: Page, site: Path) -> None:
    pages, found = sorted(site.glob("tasks/*/*.html")), list[int]()
    for path in (site / "index.html", *pages):
        page.goto(path.as_uri())
        found += page.locator("pre").evaluate_all(
            "all => all.map(block => block.parentElement.querySelectorAll('button.copy').length)"
        )
    assert set(found) == {1} and len(found) > len(pages) / 2


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_verdicts_are_on_the_screen_of_any_width(browser: Browser, site: Path, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 844}) as context:
        page = context.new_page()
        page.goto((site / "index.html").as_uri())
        # Whichever paper it is, some have a name as long.
        page.locator("#tasks tbody tr:visible a").first.evaluate(
            "(link, name) => { link.textContent = name }", LONG_NAME
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        places = page.locator("#tasks tbody tr:visible .badge").evaluate_all(
            "all => all.map(badge => badge.getBoundingClientRect()).map(b => [b.left, b.right])"
        )
        assert len(places) >= page.locator("#tasks tbody tr:visible .verdicts").count() / 2 > 5
        assert [place for place in places if not 0 <= place[0] < place[1] <= width] == []


def test_no_column_is_cut_in_print(browser: Browser, site: Path) -> None:
    with browser.new_context(viewport={"width": PRINTED_PX, "height": 700}) as context:
        page = context.new_page()
        page.emulate_media(media="print")
        drawn = sorted(site.glob("tasks/*/*.html"), key=lambda path: drawn_first(path.stem))
        for path in (site / "index.html", *drawn[:NUM_PRINTED]):
            page.goto(path.as_uri())
            boxes = page.locator(".scroll").all()
            assert [cut(box) for box in boxes] == [{}] * len(boxes), path.name
            assert page.evaluate("document.documentElement.scrollWidth") <= PRINTED_PX, path.name


def test_print_of_the_first_page_has_every_row(page: Page, site: Path, tmp_path: Path) -> None:
    page.goto((site / "index.html").as_uri())
    data = page.pdf(path=tmp_path / "index.pdf", prefer_css_page_size=True)
    sheets = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", data)
    assert sheets
    # On its side, as the style sheet asks.
    assert all(float(width) > float(height) for width, height in sheets)


@pytest.mark.parametrize("width", [1400, 1200, 800, 390])
def test_figures_on_cards_can_be_told_apart(browser: Browser, site: Path, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 800}) as context:
        page = context.new_page()
        page.goto((site / "index.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        pictures = page.locator(".thumbnails img").all()
        assert len(pictures) == 3
        boxes = [box for each in pictures if (box := each.bounding_box())]
        assert min(box["width"] for box in boxes) >= LEAST_THUMBNAIL_PX
        assert min(box["height"] for box in boxes) >= LEAST_THUMBNAIL_PX / 2
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
