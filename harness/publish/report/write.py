"""Fills the templates: equal data give equal bytes, whenever and wherever they are written."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from harness.atomic import write_bytes, write_text
from harness.declare.profiles import Profile
from harness.declare.reference import NOT_KNOWN
from harness.errors import SpecError
from harness.publish.counts import CLAIMS, MARKS
from harness.publish.forest import draw_forest, forest_rows
from harness.publish.report.claim_line import in_order, sentence
from harness.publish.report.formats import markdown_tables
from harness.publish.report.page import SCALES, PaperPage, folded_head
from harness.publish.report.text import markdown_cell
from harness.registry import Library
from harness.store.workspace import COMMITTED_PROFILES, Workspace
from harness.untrusted import is_there, read_text

STATIC = ("style.css", "report.js")
TOP = "../.."
"""From a paper's page in Markdown to the top of the checkout."""


def write_results(workspace: Workspace, library: Library, pages: Sequence[PaperPage]) -> Path:
    """Write RESULTS.md, papers' pages, their forest plots, and blocks of READMEs.

    Only what is committed stands there. A README without markers is left alone. Returns the path
    of RESULTS.md.
    """
    pages = [page.only(COMMITTED_PROFILES) for page in pages]
    root = workspace.root
    for page in pages:
        for profile, image in forests(page).items():
            write_bytes(root / forest_of(page, profile), image)
        write_text(root / page_of(page), _filled("paper.md.j2", page=page))
        if page.pilots:
            pilots = (root / page_of(page)).with_name("pilots.md")
            write_text(pilots, _filled("pilots.md.j2", page=page))
        folder = library.papers[page.meta.id].folder.resolve()
        # Not that of another checkout, which may lie further below.
        if folder.parents[1] == root.resolve():
            update_block(folder / "README.md", "verdicts", _filled("verdicts.md.j2", page=page))
    named = [page for page in pages if page.meta.headline]
    for block in ("papers", "found"):
        update_block(root / "README.md", block, _filled(f"{block}.md.j2", pages=named))
    target, has_goals = root / "RESULTS.md", is_there(root / "results" / "benchmarks" / "README.md")
    write_text(target, _filled("results.md.j2", pages=pages, has_goals=has_goals))
    return target


def write_site(workspace: Workspace, pages: Sequence[PaperPage]) -> Path:
    """Write the site and return its first page: one page more per paper, files beside them."""
    site = workspace.site
    for name in STATIC:
        write_bytes(site / name, (files("harness.publish.report") / "static" / name).read_bytes())
    for page in pages:
        for profile, image in forests(page).items():
            write_bytes(site / forest_of(page, profile), image)
        for run in (run for section in page.sections for run in section.runs):
            if run.figure is not None:
                write_bytes(site / "figures" / f"{run.stem}.svg", run.figure)
            if run.result is not None:
                write_bytes(site / "data" / f"{run.stem}.csv", run.result.csv.encode())
        write_text(site / f"{page.meta.id}.html", render("paper.html.j2", page=page))
    index = site / "index.html"
    guide = "docs/index.html"
    told = guide if is_there(site / guide) else ""
    write_text(index, render("index.html.j2", pages=pages, guide=told))
    return index


def update_block(path: Path, name: str, block: str) -> None:
    """Replace what stands between `<!-- name:begin -->` and `<!-- name:end -->` in a README.

    Nothing happens without a README or without markers. Raises SpecError unless each stands once,
    in order.
    """
    first, last = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    text = read_text(path) if is_there(path) else ""
    if first not in text and last not in text:
        return
    begin, end = text.find(first), text.find(last)
    if text.count(first) != 1 or text.count(last) != 1 or begin > end:
        raise SpecError(f"{path} needs {first} and, after it, {last}, each once: put them back")
    write_text(path, f"{text[: begin + len(first)]}\n{block.strip()}\n{text[end:]}")


def page_of(page: PaperPage) -> str:
    """Return where a paper's page in Markdown lies, from the top of the checkout."""
    return f"results/{page.meta.id}/README.md"


def forest_of(page: PaperPage, profile: Profile) -> str:
    """Return where a paper's forest plot lies, from the top of the checkout or of the site."""
    return f"figures/{page.meta.id}/claims.{profile}.svg"


@functools.cache
def forests(page: PaperPage) -> dict[Profile, bytes]:
    """Return a paper's forest plots: of each committed profile that measured a claim."""
    rows = {profile: page.rows(profile) for profile in page.profiles if profile != "smoke"}
    return {p: draw_forest(found, p) for p, found in rows.items() if forest_rows(found)}


def never_run(pages: Sequence[PaperPage]) -> list[Profile]:
    """Return the committed profiles in which nothing is stored."""
    present = {profile for page in pages for profile in page.profiles}
    return [profile for profile in COMMITTED_PROFILES if profile not in present]


def render(name: str, **shown: Any) -> str:
    """Fill a template of the site; every value is escaped."""
    return _environment(html=True).get_template(name).render(shown)


def _filled(name: str, **shown: Any) -> str:
    """Fill a template in Markdown: its blocks stand apart by one empty line."""
    text = _environment(html=False).get_template(name).render(shown)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


@functools.cache
def _environment(*, html: bool) -> Environment:
    """Return what fills templates; a name that is not given is an error."""
    environment = Environment(
        loader=PackageLoader("harness.publish.report", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=html,
        keep_trailing_newline=html,
    )
    environment.filters.update(cell=markdown_cell, sentence=sentence, prose=prose)
    shown = (folded_head, forest_of, forests, in_order, markdown_tables, never_run, page_of)
    environment.globals.update({each.__name__: each for each in shown})
    environment.globals.update(
        TOP=TOP, SCALES=SCALES, CLAIMS=CLAIMS, MARKS=MARKS, NOT_KNOWN=NOT_KNOWN
    )
    return environment


def prose(text: str) -> Markup:
    """Return escaped text in which `code` between backticks is marked as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
