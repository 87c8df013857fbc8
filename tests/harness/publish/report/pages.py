"""The made-up paper as it is loaded, and its site's pages read as a person would."""

from __future__ import annotations

from playwright.sync_api import Page

from harness.declare.profiles import Profile
from harness.publish.report.load import load_pages
from harness.publish.report.page import PaperPage
from harness.registry import Library
from harness.store.workspace import COMMITTED_PROFILES, Workspace

Demo = tuple[Workspace, Library]


def page_of(demo: Demo, *profiles: Profile) -> PaperPage:
    """Return the made-up paper as it is stored, at the committed profiles by default."""
    (page,) = load_pages(*demo)
    return page.only(profiles or COMMITTED_PROFILES)


def open_page(page: Page, demo: Demo, path: str = "index.html") -> list[str]:
    """Open a page of the site, or a place on it; return what collects its errors and requests."""
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("requestfailed", lambda request: trouble.append(request.url))
    page.on("request", lambda r: None if r.url[:5] in ("file:", "data:") else trouble.append(r.url))
    name, mark, place = path.partition("#")
    page.goto(f"{(demo[0].site / name).as_uri()}{mark}{place}")
    return trouble


def shown(page: Page) -> list[str]:
    """Return the claims that the first page shows, by their marks."""
    return page.locator("#claims [data-facts]:visible .mark").all_inner_texts()
