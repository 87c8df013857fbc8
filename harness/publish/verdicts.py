"""Verdicts of stored results, kept per paper and profile with digests of what they follow from.

Where tables, declarations and code are as they were, the file is what they would give again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from harness.atomic import write_text
from harness.declare.profiles import Profile
from harness.declare.reference import load_reference
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.errors import DataError, SpecError, UsageError
from harness.publish.check_row import SCHEMA_VERSION, CheckRow
from harness.publish.judge import failed_rows, judge
from harness.registry import Library, PaperFolder
from harness.store.result import check_rebuilt, is_stored, load_result
from harness.store.workspace import COMMITTED_PROFILES, Workspace
from harness.untrusted import UnreadableError, parse_json, read_bytes

JUDGES = (
    "declare", "publish/judge.py", "publish/check_row.py", "run/awaited.py",
    "store/registered.py", "store/result.py",
)  # fmt: skip
"""What of the harness turns a table into verdicts."""


def _scales(workspace: Workspace, task: Task) -> list[Profile]:
    """Return the committed profiles that a task is stored in; else smoke, or `cpu` where none is.

    Of what was never run, `cpu` says why.
    """
    at: list[Profile] = [p for p in COMMITTED_PROFILES if is_stored(workspace, task.id, p)]
    return at or (["smoke"] if is_stored(workspace, task.id, "smoke") else ["cpu"])


def verdicts_of(
    workspace: Workspace,
    library: Library,
    tasks: Iterable[Task],
    profile: Profile | None,
    *,
    deep: bool = False,
) -> list[CheckRow]:
    """Return the verdicts of tasks, as they are stored where the file of their paper is current.

    profile: by default each committed one that a task is stored in, else smoke, else `cpu`.
    deep: build tables and verdicts anew from the committed records, and compare.
    """
    files: dict[tuple[str, Profile], list[CheckRow] | None] = {}
    rows: list[CheckRow] = []
    scales = [(t, p) for t in tasks for p in ([profile] if profile else _scales(workspace, t))]
    for task, scale in scales:
        at = (task.paper, scale)
        if at not in files:
            files[at] = _current(workspace, library.papers[task.paper], scale)
        kept = files[at]
        found = [row for row in kept or () if row.task == task.id]
        if deep or kept is None:
            judged = judge_stored(library, workspace, task, scale, deep=deep)
            _check_kept(verdicts_path(workspace, task.paper, scale), found, judged)
            found = judged
        rows += found
    return rows


def _check_kept(path: Path, kept: Sequence[CheckRow], judged: Sequence[CheckRow]) -> None:
    """Raise DataError where a paper's file says other verdicts than its records give."""
    then = {row.claim: row for row in kept}
    for row in judged:
        if then.get(row.claim, row) != row and row.verdict != Word.ERROR:
            raise DataError(
                f"{path}: {row.task}:{row.claim} is not what the records give: remove the file and"
                " run `repro report`"
            )


def judge_stored(
    library: Library, workspace: Workspace, task: Task, profile: Profile, *, deep: bool = False
) -> list[CheckRow]:
    """Evaluate a task's claims on what is stored; a damaged result gives ERROR rows."""
    try:
        reference = load_reference(library.papers[task.paper].folder, task.word)
        result = load_result(workspace, task, profile)
        if deep and result is not None and workspace.is_committed(profile):
            check_rebuilt(workspace, task, profile, result)
        return judge(task, result, profile, reference, overrides=workspace.overrides)
    except (DataError, SpecError, UsageError) as error:
        # Relative, or what is committed would differ from checkout to checkout.
        reason = str(error).replace(f"{workspace.root}/", "")
        return failed_rows(task, profile, reason)


def paper_verdicts(
    workspace: Workspace, library: Library, paper: str, profile: Profile
) -> list[CheckRow]:
    """Return a paper's verdicts at a profile; none where nothing of it is stored there."""
    tasks = [task for task in library.tasks.values() if task.paper == paper]
    is_run = any(is_stored(workspace, task.id, profile) for task in tasks)
    return verdicts_of(workspace, library, tasks, profile) if is_run else []


def write_verdicts(
    workspace: Workspace, library: Library, paper: str, profile: Profile
) -> list[CheckRow]:
    """Bring a paper's file up to date and return its verdicts; what is current is not written."""
    # Before they are judged: what another process writes meanwhile must not pass for what was.
    follows_from = _follows_from(workspace, library.papers[paper], profile)
    rows = paper_verdicts(workspace, library, paper, profile)
    if not rows:
        return rows
    text = _text_of(rows, follows_from)
    path = verdicts_path(workspace, paper, profile)
    if _bytes_of(path) != text.encode():
        write_text(path, text)
    return rows


def verdicts_path(workspace: Workspace, paper: str, profile: Profile) -> Path:
    return workspace.results(profile) / paper / f"verdicts.{profile}.json"


def _text_of(rows: Sequence[CheckRow], follows_from: Mapping[str, Any]) -> str:
    """Return the file of verdicts, a line each, with a digest of these lines."""
    lines = ",\n".join(json.dumps(asdict(row), ensure_ascii=False) for row in rows)
    head = {
        "schema_version": SCHEMA_VERSION,
        "follows_from": follows_from,
        "digest": _sha256(lines.encode()),
    }
    return json.dumps(head, indent=1).removesuffix("\n}") + f',\n "rows": [\n{lines}\n]\n}}\n'


def _current(workspace: Workspace, folder: PaperFolder, profile: Profile) -> list[CheckRow] | None:
    """Return what a paper's file holds; None unless it is what would be written again.

    One that is damaged holds nothing, as it can be made anew.
    """
    path = verdicts_path(workspace, folder.name, profile)
    data = _bytes_of(path)
    try:
        rows = [CheckRow.of(row) for row in parse_json(data, where=str(path))["rows"]]
    except (UnreadableError, KeyError, TypeError):
        return None
    again = _text_of(rows, _follows_from(workspace, folder, profile))
    return rows if data == again.encode() else None


def _follows_from(workspace: Workspace, folder: PaperFolder, profile: Profile) -> dict[str, Any]:
    """Return what a paper's verdicts follow from: digests of code and of each stored result."""
    results = workspace.results(profile) / folder.name
    tables = {
        f"{folder.name}/{path.name.partition('.')[0]}": _sha256(
            _bytes_of(path) + _bytes_of(path.with_suffix(".json"))
        )
        for path in sorted(results.glob(f"*.{profile}.csv"))
    }
    varied = {"overrides": dict(workspace.overrides)} if workspace.overrides else {}
    return {"code": _code_of(folder.folder), "tables": tables, **varied}


@cache
def _code_of(folder: Path) -> str:
    """Return a digest of all that tells how tables of a paper are judged."""
    harness = Path(__file__).parents[1]
    places = [folder, folder.parent / "nets", *(harness / place for place in JUDGES)]
    found = hashlib.sha256()
    for place in places:
        paths = [place] if place.is_file() else sorted(place.rglob("*"))
        for path in paths:
            if path.suffix in (".py", ".toml", ".csv"):
                found.update(f"{path.relative_to(place)} {_sha256(_bytes_of(path))}\n".encode())
    return found.hexdigest()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _bytes_of(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except (FileNotFoundError, UnreadableError):
        return b""


def json_rows(rows: Iterable[CheckRow], overrides: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return verdicts as `repro check --json` prints them; a variant's say what was overridden."""
    varied = {"overrides": dict(overrides)} if overrides else {}
    return [asdict(row) | varied for row in rows]
