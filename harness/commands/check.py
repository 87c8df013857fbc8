"""The verb that tells verdicts; of papers whose stored ones are current nothing is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
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

if TYPE_CHECKING:  # what they import would slow every verb down
    from harness.registry import Library, PaperFolder
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
    from harness.publish.report.terminal import check_text
    from harness.publish.verdicts import json_rows, places_of, verdicts_of

    asked = _asked(selectors or [], settings, seeds, is_deep=deep)
    places = places_of(asked.workspace, asked.names, parse_profile(profile) if profile else None)
    rows = verdicts_of(asked.workspace, asked.papers, places, asked.load, deep=deep)
    overrides = asked.workspace.overrides
    if as_json:
        print_rows(json_rows(rows, overrides), as_json=True, columns=[])
    else:
        typer.echo(headed(check_text(rows, everything=everything, brief=brief), overrides))
    if broken_said or any(row.fails for row in rows):
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is checked, and what imports a paper where its verdicts are not stored."""

    workspace: Workspace
    papers: Mapping[str, PaperFolder]
    names: list[str]
    load: Callable[[str], Library]


def _asked(
    selectors: list[str], settings: list[str] | None, seeds: int | None, *, is_deep: bool
) -> _Judged:
    """Return what some words ask for; where stored verdicts will do, no paper is imported."""
    from harness.registry import find_papers, find_tasks, load_registry
    from harness.store.workspace import find_results

    @cache
    def load(paper: str) -> Library:
        library = load_registry([paper])
        say_all_broken(library, selectors)
        return library

    if not (settings or seeds is not None or is_deep):
        # Where a paper.toml is not as it should be, that is told with all that is broken.
        with suppress(SpecError):
            papers = find_papers()
            return _Judged(find_results(), papers, [*find_tasks(selectors, papers)], load)
    asked = asked_for(selectors, "smoke", settings, seeds, reads=True)
    names = [task.id for task in asked.tasks]
    return _Judged(asked.workspace, asked.library.papers, names, lambda _: asked.library)
