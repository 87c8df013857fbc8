"""The verb that tells verdicts; of papers whose stored ones are current nothing is imported."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands.common import (
    JsonOption,
    SeedsOption,
    Selectors,
    SetOption,
    asked_for,
    broken_said,
    headed,
    print_rows,
    say_all_broken,
)
from harness.declare.profiles import parse_profile
from harness.errors import SpecError
from harness.untrusted import is_there

if TYPE_CHECKING:  # what they import would slow every verb down
    from harness.declare.profiles import Profile
    from harness.publish.check_row import CheckRow
    from harness.registry import Library
    from harness.store.workspace import Workspace

CheckedProfile = Annotated[
    str | None,
    typer.Option("--profile", "-p", help="One scale; by default all committed ones, else smoke."),
]
DeepOption = Annotated[
    bool, typer.Option("--deep", help="Also build tables and verdicts anew from records.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Also what holds, or was not tested.")]
BriefOption = Annotated[
    bool, typer.Option("--brief", help="Only counts per paper, and what fails.")
]


def check(
    selectors: Selectors = None,
    profile: CheckedProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    deep: DeepOption = False,
    everything: AllOption = False,
    brief: BriefOption = False,
    as_json: JsonOption = False,
) -> None:
    """Tell the verdicts of every check and claim; exit 1 if a check fails or one errs."""
    from harness.declare.overrides import Overrides
    from harness.publish.report.terminal import check_text
    from harness.publish.verdicts import json_rows, places_of, verdicts_of

    wanted = parse_profile(profile) if profile else None
    rows, overrides = None, Overrides()
    if not (settings or seeds is not None or deep):
        rows = _without_import(selectors or [], wanted)
    if rows is None:
        asked = asked_for(selectors, "smoke", settings, seeds, reads=True)
        places = places_of(asked.workspace, asked.tasks, wanted)
        rows = verdicts_of(asked.library, asked.workspace, places, deep=deep)
        overrides = asked.overrides
    if as_json:
        print_rows(json_rows(rows, overrides), as_json=True, columns=[])
    else:
        typer.echo(headed(check_text(rows, everything=everything, brief=brief), overrides))
    if broken_said or any(row.fails for row in rows):
        raise typer.Exit(1)


def _without_import(selectors: list[str], wanted: Profile | None) -> list[CheckRow] | None:
    """Return the verdicts of tasks; None where a paper.toml is not as it should be."""
    from harness.publish.verdicts import rows_of_tasks
    from harness.registry import find_papers, find_tasks, load_registry
    from harness.store.workspace import find_results

    try:
        papers = find_papers()
        names = find_tasks(selectors, papers)
    except SpecError:
        return None

    @cache
    def load(paper: str) -> Library:
        library = load_registry([paper])
        say_all_broken(library, selectors)
        return library

    workspace = find_results()
    places = [(name, at) for name in names for at in _profiles(workspace, name, wanted)]
    return rows_of_tasks(workspace, papers, places, load)


def _profiles(workspace: Workspace, name: str, wanted: Profile | None) -> Sequence[Profile]:
    """Return where a task is looked at; as `places_of` does, by its id."""
    from harness.store.workspace import COMMITTED_PROFILES

    def is_stored(at: Profile) -> bool:
        path = workspace.results(at) / f"{name}.{at}.csv"
        return is_there(path) or is_there(path.with_suffix(".json"))

    if wanted:
        return [wanted]
    committed = [at for at in COMMITTED_PROFILES if is_stored(at)]
    return committed or (["smoke"] if is_stored("smoke") else ["cpu"])
