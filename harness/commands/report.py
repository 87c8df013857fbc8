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
    from harness.publish.report.load import load_pages
    from harness.publish.report.write import write_results, write_site
    from harness.store.pair import finish_pairs

    asked = asked_for(None, reads=True)
    finish_pairs(asked.workspace.root / "results")
    store = not site_only
    pages = load_pages(asked.workspace, asked.library, store=store, tell=say_broken)
    if store:
        say(f"wrote {write_results(asked.workspace, asked.library, pages)}")
    say(f"wrote {write_site(asked.workspace, pages)}: open it in a browser")
