"""The two sides of `repro diff`: verdicts of a commit, a folder, a variant, an export of records
or the working tree.

Nothing is checked out: what a commit holds is asked of git. Nothing is imported, either.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.declare.overrides import Overrides
from harness.declare.profiles import PROFILES
from harness.errors import DataError, EnvError, UsageError, nearest
from harness.outgoing import tidy
from harness.publish.check_row import CheckRow
from harness.publish.compared.exported import exported
from harness.publish.report.verdicts_json import VERDICTS, as_text
from harness.publish.verdicts import Place, gone_of, json_rows, verdicts_of
from harness.registry import Library
from harness.store.result import is_stored
from harness.store.variants import Variant, find_variants
from harness.store.workspace import COMMITTED_PROFILES, Workspace
from harness.untrusted import UnreadableError, is_there, parse_json, read_bytes

NEEDED = {"task", "claim", "profile", "cohort", "verdict", "schema_version"}
RESULT = re.compile(r"results/(\w+)/(\w+)\.(\w+)\.(?:csv|json)")


@dataclass(frozen=True, slots=True)
class Side:
    """Verdicts, and what they are of."""

    name: str
    rows: list[dict[str, Any]]
    is_part: bool = False
    """Whether it has only some tasks, and says nothing of others."""

    def only(self, cohort: str) -> Side:
        """Return what it has of one cohort. Raises UsageError where that is nothing."""
        rows = [row for row in self.rows if row["cohort"] == cohort]
        if not rows:
            raise UsageError(f"{self.name} has no verdict of {cohort}: nothing compares")
        return replace(self, name=f"{cohort} of {self.name}", rows=rows)

    def beside(self, other: Side) -> list[dict[str, Any]]:
        """Return the rows of which another side may say something."""
        places = {(row["task"], row["profile"]) for row in other.rows}
        return [
            row for row in self.rows if not other.is_part or (row["task"], row["profile"]) in places
        ]


def side_by_side(old: Side, new: Side) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of two sides that say something of the same tasks.

    Raises UsageError where one side is a part that the other one has nothing of.
    """
    rows = old.beside(new), new.beside(old)
    if (old.is_part or new.is_part) and not all(rows):
        raise UsageError(
            f"{old.name} and {new.name} have no task at one profile in common: nothing compares"
        )
    return rows


def working_tree(
    library: Library,
    workspace: Workspace,
    name: str = "the working tree",
    *,
    beside: Side | None = None,
) -> Side:
    """Return the verdicts of a checkout as it is, of smoke those that another side has.

    As `repro report` wrote them, and decided anew for tasks whose results differ from HEAD's; all
    of them where there is no such file, or where code, and so what claims ask, differs.
    """
    path, rows = workspace.root / VERDICTS, list[dict[str, Any]]()
    if is_there(path):
        try:
            rows = _parsed(read_bytes(path), str(path))
        except UnreadableError as error:
            raise DataError(f"{error}: repro report writes it anew") from error
    if not is_there(path) or _differs(workspace.root, ":!results", ":!figures", ":!docs"):
        # Rows of what was never run stand in the file alone: nothing is stored of it.
        told = {(row["task"], row["profile"]) for row in rows}
        places = {(library.tasks[task], p) for task, p in told if task in library.tasks}
        places, rows = places | set(_stored(library, workspace)), []
    else:
        places = set(_changed(library, workspace))
    places |= _smoke_beside(library, workspace, beside)
    fresh = _decided(library, workspace, places)
    anew = {(task.id, profile) for task, profile in places}
    return Side(name, [r for r in rows if (r["task"], r["profile"]) not in anew] + fresh)


def _smoke_beside(library: Library, workspace: Workspace, beside: Side | None) -> set[Place]:
    ids = {row["task"] for row in beside.rows if row["profile"] == "smoke"} if beside else set()
    tasks = [task for task in library.tasks.values() if task.id in ids]
    return {(task, "smoke") for task in tasks if is_stored(workspace, task, "smoke")}


def side_of(library: Library, workspace: Workspace, word: str) -> Side:
    """Return the verdicts of a variant, a commit, a folder or an export, looked for in this order.

    Raises UsageError that names the nearest one, or the first commit that has verdicts.
    """
    variants = {v.workspace.overrides.name: v for v in find_variants(workspace)
                if isinstance(v, Variant)}  # fmt: skip
    if word in variants:
        return variant_side(library, variants[word])
    commit = _git(workspace.root, "rev-parse", "--verify", "--quiet", "--end-of-options",
                  f"{word}^{{commit}}").strip()  # fmt: skip
    if commit:
        return _commit(workspace.root, word, commit)
    # Nothing is the folder that one stands in to Path; of a name too long only these say no.
    path = Path(word)
    if word and os.path.isdir(path / "results"):  # noqa: PTH112
        return working_tree(library, Workspace(path.resolve()), word)
    if is_there(path) and not os.path.isdir(path):  # noqa: PTH112
        return _export(library, workspace, path)
    branches = _git(workspace.root, "for-each-ref", "--format=%(refname:short)").split()
    in_git = bool(_git(workspace.root, "rev-parse", "--git-dir"))
    hint = nearest(word, [*(["HEAD"] if in_git else []), *variants, *branches])
    none = "" if in_git else f" ({workspace.root} is in no git repository)"
    raise UsageError(
        f"no commit, variant, folder with results or export of records is called {word!r}{hint}"
        f"{none}"
    )


def variant_side(library: Library, variant: Variant) -> Side:
    """Return the verdicts of a variant, of all that was run of it."""
    places = {
        (library.tasks[task], profile)
        for profile, ran in variant.runs.items()
        for task in ran.tasks
        if task in library.tasks
    }
    overrides = variant.workspace.overrides
    return Side(overrides.label, _decided(library, variant.workspace, places), is_part=True)


def _export(library: Library, workspace: Workspace, file: Path) -> Side:
    """Return the verdicts of an export, with what the checkout says of claims that are gone."""
    found, rows = exported(library, workspace, file)
    places = [(task, found.profile) for task in found.tasks]
    if not found.overrides:
        rows = [*rows, *gone_of(library, workspace, places, [task.id for task in found.tasks])]
    name = f"{file} ({', '.join(filter(None, [found.profile, found.overrides.label]))})"
    return Side(tidy(name), _as_stored(library, found.overrides, rows), is_part=True)


def _commit(root: Path, word: str, commit: str) -> Side:
    name = f"{word} ({commit[:7]})"
    text = _git(root, "show", f"{commit}:./{VERDICTS}")
    if not text:
        # A merge may be what added it.
        added = ("--first-parent", "-m", "--diff-filter=A", "--format=%h")
        has = _git(root, "log", "--reverse", *added, "--", str(VERDICTS))
        first = f"the first commit that has it is {has.split()[0]}" if has else "no commit has it"
        raise UsageError(f"{name} has no {VERDICTS}, which repro report writes: {first}")
    return Side(name, _parsed(text.encode(), f"{VERDICTS} of {name}"))


def _parsed(data: bytes, where: str) -> list[dict[str, Any]]:
    rows = parse_json(data, where=where)
    if not (
        isinstance(rows, list) and all(isinstance(r, dict) and r.keys() >= NEEDED for r in rows)
    ):
        raise DataError(f"{where} holds no verdicts: repro report writes it anew")
    return rows


def _decided(
    library: Library, workspace: Workspace, places: Collection[Place]
) -> list[dict[str, Any]]:
    """Return verdicts decided anew on what is stored."""
    chosen = sorted(places, key=lambda place: (place[0].id, PROFILES.index(place[1])))
    rows = verdicts_of(library, workspace, chosen)
    rows += gone_of(library, workspace, chosen, [task.id for task, _ in chosen])
    return _as_stored(library, workspace.overrides, rows)


def _as_stored(
    library: Library, overrides: Overrides, rows: Sequence[CheckRow]
) -> list[dict[str, Any]]:
    """Return verdicts as the file would hold them."""
    told = json_rows(library, overrides, rows)
    return _parsed(as_text(told).encode(), "verdicts")


def _stored(library: Library, workspace: Workspace) -> Iterator[Place]:
    for task in library.tasks.values():
        stored = [p for p in COMMITTED_PROFILES if is_stored(workspace, task, p)]
        yield from ((task, profile) for profile in stored)


def _changed(library: Library, workspace: Workspace) -> Iterator[Place]:
    """Yield tasks whose results are not those of HEAD; none outside a repository."""
    tracked = _git(
        workspace.root, "diff", "--name-only", "-z", "--relative", "HEAD", "--", "results"
    )
    new = _git(workspace.root, "ls-files", "-z", "--others", "--exclude-standard", "--", "results")
    for path in filter(None, [*tracked.split("\0"), *new.split("\0")]):
        found = RESULT.fullmatch(path)
        task = library.tasks.get(f"{found[1]}/{found[2]}") if found else None
        profile = next((p for p in COMMITTED_PROFILES if found and p == found[3]), None)
        if task is not None and profile is not None:
            yield task, profile


def _differs(root: Path, *left_out: str) -> bool:
    """Say whether tracked files but some differ from HEAD's, or new ones are there."""
    return bool(_git(root, "status", "--porcelain", "--", ".", *left_out))


def _git(root: Path, *arguments: str) -> str:
    """Return what git says, nothing where it refuses. Raises EnvError where there is no git."""
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise EnvError(f"git does not start ({error.strerror}): install it to compare") from error
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""
