"""The verb that writes pages of what is stored."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.commands.common import asked_for, say, say_broken

SiteOption = Annotated[
    bool, typer.Option("--site-only", help="Leave RESULTS.md and the READMEs as they are.")
]


def report(site_only: SiteOption = False) -> None:
    """Write the static report to site/, and RESULTS.md from the committed profiles."""
    from harness.declare.profiles import PROFILES
    from harness.publish.report import build_results
    from harness.publish.report.load import load_papers
    from harness.publish.report.site.pages import write_site
    from harness.store.pair import finish_pairs

    asked = asked_for(None, reads=True)
    finish_pairs(asked.workspace.root / "results")
    papers = load_papers(asked.workspace, asked.library, PROFILES, store=not site_only)
    for paper in papers:
        if paper.problem and paper.meta.id in asked.library.papers:
            say_broken(f"{paper.meta.id}: {paper.problem}")
    if not site_only:
        say(f"wrote {build_results(asked.workspace, asked.library, papers)}")
    say(f"wrote {write_site(asked.workspace, papers)}: open it in a browser")
