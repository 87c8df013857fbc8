"""The static report in `site/`, and RESULTS.md: laid out from what is on disk.

Nothing is computed here but verdicts, from stored tables; no GPU, no data, no record is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.registry import Library
from harness.store.workspace import Workspace

if TYPE_CHECKING:
    from harness.publish.report.load import Paper

CHECKOUT_MARKS = (".git", "pyproject.toml", "RESULTS.md")


def build_results(workspace: Workspace, registry: Library, papers: Sequence[Paper]) -> Path:
    """Write RESULTS.md and papers' pages from the committed profiles, and blocks of their READMEs.

    Also the page of performance goals. A README without markers is left alone. Returns the path
    of RESULTS.md.
    """
    from harness.atomic import write_text
    from harness.measure.goals import load_baselines
    from harness.publish.report.goals_md import PAGE, goals_markdown
    from harness.publish.report.pages_md import page_of, paper_markdown, results_markdown
    from harness.store.workspace import COMMITTED_PROFILES

    papers = [paper.only(COMMITTED_PROFILES) for paper in papers]
    target = workspace.root / "RESULTS.md"
    baselines = load_baselines(workspace.root)
    write_text(target, results_markdown(papers, baselines))
    write_text(workspace.root / PAGE, goals_markdown(baselines))
    for paper in papers:
        write_text(workspace.root / page_of(paper.meta.id), paper_markdown(paper))
    _update_readmes(workspace, registry, papers)
    return target


def _update_readmes(workspace: Workspace, registry: Library, papers: Sequence[Paper]) -> None:
    """Write the blocks of the checkout's README and of the papers' own."""
    from harness.atomic import write_text
    from harness.publish.report.pages_md import found_block, papers_table, verdict_block
    from harness.publish.report.readme import (
        BEGIN,
        FOUND,
        PAPERS,
        update_block,
        update_tables,
    )
    from harness.untrusted import is_there, read_text

    front = workspace.root / "README.md"
    if is_there(front) and PAPERS[0] in (text := read_text(front)):
        shown = [paper for paper in papers if paper.meta.headline]
        text = update_block(text, papers_table(shown), PAPERS)
        write_text(front, update_block(text, found_block(papers), FOUND))
    for paper in (each for each in papers if not each.problem):
        readme = registry.papers[paper.meta.id].folder / "README.md"
        if _is_of(workspace.root.resolve(), readme.resolve()) and is_there(readme):
            text = read_text(readme)
            if BEGIN in text:
                text = update_block(text, verdict_block(paper))
                write_text(readme, update_tables(text, paper))


def _is_of(root: Path, readme: Path) -> bool:
    """Whether a README is of the checkout at `root`, and not of another one that lies below it."""
    if not readme.is_relative_to(root):
        return False
    between = readme.parents[: readme.parents.index(root)]
    return not any((folder / mark).exists() for folder in between for mark in CHECKOUT_MARKS)
