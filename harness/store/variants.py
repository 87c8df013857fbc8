"""What a variant's folder says of itself: what was overridden, and what was run when."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from harness.atomic import locked, write_text
from harness.declare.overrides import Overrides
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import DataError
from harness.store.workspace import Workspace
from harness.strict import Strict, explain
from harness.untrusted import UnreadableError, parse_json, read_bytes

FILE = "variant.json"
MAX_BYTES = 2**20


class Ran(Strict):
    """What was run of a variant in one profile."""

    tasks: list[str]
    started_at: str
    """The last time."""


class VariantFile(Strict):
    """The file in a variant's folder."""

    schema_version: Literal[1] = 1
    overrides: dict[str, bool | int | float | str]
    runs: dict[Profile, Ran]


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant that was run in a checkout."""

    workspace: Workspace
    runs: dict[Profile, Ran]


def note_run(workspace: Workspace, profile: Profile, tasks: Sequence[Task]) -> None:
    """Write into a variant's folder that some of its tasks run now; nothing where none is.

    A file that cannot be used is written anew.
    """
    if not workspace.overrides:
        return
    folder = workspace.output(profile)
    # Two runs of one variant at once must both stand there.
    with locked(workspace.runs / "locks" / "variants.lock"):
        try:
            runs = dict(_read(folder).runs)
        except DataError:
            runs = {}
        known = runs[profile].tasks if profile in runs else []
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        every = sorted({*known, *(task.id for task in tasks)})
        runs[profile] = Ran(tasks=every, started_at=now)
        body = VariantFile(overrides=dict(workspace.overrides), runs=runs)
        write_text(folder / FILE, body.model_dump_json(indent=1) + "\n")


def find_variants(workspace: Workspace) -> Iterator[Variant | DataError]:
    """Yield the variants of a checkout by their folders, and what is wrong with one."""
    for folder in sorted(workspace.outputs.glob("set-*")):
        try:
            found = _read(folder)
            yield Variant(workspace.with_overrides(found.overrides), found.runs)
        except DataError as error:
            yield error


def _read(folder: Path) -> VariantFile:
    """Read what a folder says of itself. Raises DataError unless it is that folder's."""
    path, advice = folder / FILE, "remove the folder, or run the variant again"
    try:
        body = parse_json(read_bytes(path, limit=MAX_BYTES), where=str(path))
        found = VariantFile.model_validate(body)
    except (ValidationError, FileNotFoundError, UnreadableError) as error:
        why = explain(error) if isinstance(error, ValidationError) else error
        raise DataError(f"{path} cannot be used ({why}): {advice}") from error
    if Overrides(found.overrides).name != folder.name:
        raise DataError(f"{path} is of another folder: {advice}")
    return found
