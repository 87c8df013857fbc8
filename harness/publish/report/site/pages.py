"""Write the pages of `site/`: templates filled, figures and tables copied beside them."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from harness.atomic import write_bytes, write_text
from harness.measure.goals import load_baselines
from harness.publish.report.load import Entry, Paper
from harness.publish.report.pages_md import templates_of
from harness.publish.report.site.contexts import SHOWN, overview_context, task_context
from harness.publish.report.text import with_minus
from harness.store.workspace import Workspace

STATIC = ("style.css", "report.js")


def write_site(workspace: Workspace, papers: Sequence[Paper]) -> Path:
    """Write every page and return the overview's path."""
    site = workspace.site
    for name in STATIC:
        static = files("harness.publish.report.site") / "static" / name
        write_bytes(site / name, static.read_bytes())
    for paper in papers:
        for entry in paper.entries:
            _write_entry(site, paper, entry)
    index = site / "index.html"
    context = overview_context(papers, load_baselines(workspace.root))
    write_text(index, render("index.html.j2", context))
    return index


def _write_entry(site: Path, paper: Paper, entry: Entry) -> None:
    if not entry.page:
        return
    page = render("task.html.j2", task_context(paper, entry))
    write_text(site / entry.page, page)
    for run in entry.runs:
        stem = f"{entry.id}.{run.profile}"
        if run.figure is not None:
            write_bytes(site / "figures" / f"{stem}.svg", run.figure)
        if run.csv is not None:
            write_bytes(site / "data" / f"{stem}.csv", run.csv)


def render(name: str, context: dict[str, Any]) -> str:
    """Fill a template; every value is escaped, and a missing one is an error."""
    return _environment().get_template(name).render(context)


@functools.cache
def _environment() -> Environment:
    environment = templates_of(
        "harness.publish.report.site",
        autoescape=True,
        keep_trailing_newline=True,
        finalize=_finished,
    )
    environment.filters["prose"] = prose
    environment.globals.update(SHOWN)
    return environment


def _finished(value: Any) -> Any:
    """Return what stands on a page for a value: negative numbers have a true minus."""
    if isinstance(value, Markup):
        return Markup(with_minus(value))
    return with_minus(value) if isinstance(value, str) else value


def prose(text: str) -> Markup:
    """Return escaped text in which `code` between backticks is marked as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
