"""Opens pages of the made-up paper's site, and reads them as a person would."""

from pathlib import Path

from playwright.sync_api import Page

from harness.publish.report import build_report
from harness.publish.report.load import load_papers
from harness.registry import Library, load_registry
from harness.store.workspace import Workspace
from tests.checkout import ROOT

Demo = tuple[Workspace, Library]


def site_of(name: str, root: Path) -> Demo:
    """Build the site of one task at `root`, of its committed result."""
    for folder in ("results", "figures"):
        (root / folder).symlink_to(ROOT / folder)
    whole, library = load_registry(), Library()
    task = whole.tasks[name]
    library.papers[task.paper] = whole.papers[task.paper]
    library.tasks[task.id] = task
    for experiment in task.reads:
        library.experiments[experiment.id] = experiment
    workspace = Workspace(root)
    build_report(workspace, load_papers(workspace, library, ["cpu"]))
    return workspace, library


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
