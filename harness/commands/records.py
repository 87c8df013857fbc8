"""`repro records`: carry records to and from a machine without this checkout's network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.commands.common import (
    ForceOption,
    ProfileOption,
    Selectors,
    asked_for,
    group,
    say,
)
from harness.store.archive import export_records, import_records
from harness.store.trial import trials_behind
from harness.store.workspace import find_workspace

app = group(help="Export and import records with their artifacts.")

FileArgument = Annotated[Path, typer.Argument(help="The archive, a .tar.gz file.")]


@app.command("export")
def export(
    file: FileArgument,
    selectors: Selectors = None,
    profile: ProfileOption = "gpu",
    force: ForceOption = False,
) -> None:
    """Write the results of some tasks, and artifacts up to 16 MiB, to one file."""
    asked = asked_for(selectors, profile)
    trials = trials_behind(asked.tasks, asked.profile, asked.overrides)
    summary = export_records(asked.workspace, trials, asked.profile, file, force=force)
    say(f"wrote {file}: {summary.num_records} records, {summary.num_artifacts} artifacts")
    if summary.left_out:
        say(f"left out (too large, missing or altered): {', '.join(summary.left_out)}")


@app.command("import")
def import_(file: FileArgument) -> None:
    """Add the records of a file to this checkout; a result that is here already stays."""
    summary = import_records(find_workspace(), file)
    if summary.left_out:
        say(
            f"left out {len(summary.left_out)} that start from other results than those here, such"
            f" as {summary.left_out[0]}: repro run makes them"
        )
    say(
        f"{summary.num_records} records and {summary.num_artifacts} artifacts were new; "
        "repro run TASK --profile SCALE makes a table of them"
    )
