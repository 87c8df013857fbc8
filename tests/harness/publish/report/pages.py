"""The made-up paper as it is loaded, and its site's pages read as a person would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from playwright.sync_api import Page

from harness.declare.profiles import Profile
from harness.publish.check_row import CheckRow
from harness.publish.report.load import Paper, load_papers
from harness.registry import Library
from harness.store.workspace import COMMITTED_PROFILES, Workspace

Demo = tuple[Workspace, Library]


def paper_of(demo: Demo, *profiles: Profile) -> Paper:
    """Return the made-up paper as it is stored, at the committed profiles by default."""
    (paper,) = load_papers(*demo, profiles or COMMITTED_PROFILES)
    return paper


def with_rows(paper: Paper, changed: Callable[[CheckRow], CheckRow]) -> Paper:
    """Return a paper with its verdicts changed."""
    entries = tuple(
        replace(e, runs=tuple(replace(r, rows=tuple(map(changed, r.rows))) for r in e.runs))
        for e in paper.entries
    )
    return replace(paper, entries=entries)


def open_page(page: Page, demo: Demo, path: str = "index.html") -> list[str]:
    """Open a page of the site, or a place on it; return what collects its errors and requests."""
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("requestfailed", lambda request: trouble.append(request.url))
    page.on("request", lambda r: None if r.url[:5] in ("file:", "data:") else trouble.append(r.url))
    name, mark, place = path.partition("#")
    page.goto(f"{(demo[0].site / name).as_uri()}{mark}{place}")
    return trouble


def shown(page: Page, column: int) -> list[str]:
    cells = page.locator(f"#tasks tbody tr:visible td:nth-child({column})")
    return [text.strip() for text in cells.all_inner_texts()]


def luminance(color: str) -> float:
    """Return the WCAG luminance of `rgb(r, g, b)`, from 0 to 1."""
    channels = [int(part) / 255 for part in color[4:-1].split(",")]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(front: str, back: str) -> float:
    """Return the WCAG contrast of two `rgb(r, g, b)` colours."""
    low, high = sorted((luminance(front), luminance(back)))
    return (high + 0.05) / (low + 0.05)
