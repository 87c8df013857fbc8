"""What differs between the verdicts of two commits or folders: files of verdicts, compared by row.

Nothing is checked out or imported: what a commit holds is asked of git.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from harness.errors import DataError, UsageError
from harness.untrusted import read_text

Row = Mapping[str, Any]
Key = tuple[str, str, str]
Kind = Literal["verdict", "number", "question", "added", "gone", "unrun"]
HEADS: dict[Kind, str] = {
    "verdict": "Verdicts that changed",
    "number": "Numbers that moved",
    "question": "Claims that ask something else",
    "added": "Claims added",
    "gone": "Claims gone",
    "unrun": "Run on one side alone",
}
QUESTION = ("form", "threshold", "statement", "grade", "threshold_from", "ours", "unit")
NUMBERS = ("measured", "low", "high", "num_seeds", "paper_value")


def verdicts_at(root: Path, side: str | None) -> dict[Key, Row]:
    """Return the verdicts of a commit, of a folder with results, or of the working tree (None).

    Raises UsageError for what is neither, DataError for a file that is damaged.
    """
    if side is None or Path(side, "results").is_dir():
        folder = root if side is None else Path(side)
        texts = {
            str(path): read_text(path) for path in sorted(folder.glob("results/*/verdicts.*.json"))
        }
    else:
        texts = dict(_committed(root, side))
    found: dict[Key, Row] = {}
    for name, text in texts.items():
        try:
            for row in json.loads(text)["rows"]:
                found[row["task"], row["claim"], row["profile"]] = row
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{name} is damaged: restore it with git checkout") from error
    if not found:
        raise UsageError(f"{side or root} holds no verdicts (results/*/verdicts.*.json)")
    return found


def _committed(root: Path, commit: str) -> Iterator[tuple[str, str]]:
    listed = _git(root, "ls-tree", "-r", "--name-only", f"{commit}^{{tree}}", "results")
    if listed is None:
        raise UsageError(f"{commit!r} is no commit here, and no folder with results")
    for name in listed.splitlines():
        if Path(name).name.startswith("verdicts.") and name.count("/") == 2:
            yield f"{commit}:{name}", _git(root, "show", f"{commit}:{name}") or ""


def _git(root: Path, *words: str) -> str | None:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def compare(before: Mapping[Key, Row], after: Mapping[Key, Row]) -> list[dict[str, Any]]:
    """Return what differs, as `--json` prints it: per claim its fields on both sides.

    Verdicts come first, then numbers, questions, added, gone, and what was run on one side alone.
    Papers of which `after` has nothing, as a folder with a run of one paper, are left out.
    """
    papers = {task.partition("/")[0] for task, _, _ in after}
    found = []
    for key in dict.fromkeys([*before, *after]):
        if key[0].partition("/")[0] not in papers:
            continue
        sides = {"before": before.get(key, {}), "after": after.get(key, {})}
        old, new = sides.values()
        names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
        kind = _kind(names, old, new)
        if kind is not None:
            told = {side: {name: row.get(name) for name in names} for side, row in sides.items()}
            task, claim, profile = key
            found.append({"kind": kind, "task": task, "claim": claim, "profile": profile, **told})
    return sorted(found, key=lambda each: [*HEADS].index(each["kind"]))


def _kind(names: Sequence[str], old: Row, new: Row) -> Kind | None:
    if not (old and new):
        return "gone" if old else "added"
    if any(name in QUESTION for name in names):
        return "question"
    if "verdict" in names:
        unrun = [str(row.get("reason")).startswith("not run") for row in (old, new)]
        return "verdict" if unrun[0] == unrun[1] else "unrun"
    return "number" if any(name in NUMBERS for name in names) else None


def diff_text(found: Sequence[Row]) -> str:
    """Return a line per claim below its kind of difference; per task of what was not run."""
    parts = []
    for kind, head in HEADS.items():
        rows = [row for row in found if row["kind"] == kind]
        names = [row["task"] + (f":{row['claim']}" if kind != "unrun" else "") for row in rows]
        told = (
            f"  {name} at {r['profile']}{_told(r)}" for name, r in zip(names, rows, strict=True)
        )
        lines = list(dict.fromkeys(told))
        parts += [f"{head} ({len(lines)}):", *lines] if lines else []
    return "\n".join(parts) or "No verdict differs."


def _told(row: Row) -> str:
    if row["kind"] in ("added", "gone", "unrun"):
        return ""
    names = QUESTION if row["kind"] == "question" else ("verdict", *NUMBERS)
    old, new = row["before"], row["after"]
    steps = [
        "other words" if name == "statement" else f"{name} {old[name]} -> {new[name]}"
        for name in names
        if name in old
    ]
    return f": {', '.join(steps[:2])}"
