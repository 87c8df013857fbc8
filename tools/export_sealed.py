"""What every claim measured before records held it: writes results/<paper>/sealed.json.

    python -m tools.export_sealed            write the files
    python -m tools.export_sealed --check    make them again, compare, and write nothing

Made from git alone, so anyone can make them again: from a worktree of `COMMIT` come the trial
keys, bands, samples and verdicts; from all versions of the packs up to it the first seal that
each trial carried; from every commit that a record ran at the digest of its code.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.canonical import layered_json

ROOT = Path(__file__).resolve().parents[1]
COMMIT = "77ef71872e367426afb716ba40d1f6aa781c1ae2"
"""The last commit at which seals were taken of code."""
SCHEMA_VERSION = 1
TOLERANCE = 1e-12
"""Another processor may add in another order."""


def main() -> int:
    """Write or compare the export of every paper; return an exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the committed files")
    checking = parser.parse_args().check
    wrong = []
    for paper, body in sorted(export().items()):
        path = ROOT / "results" / paper / "sealed.json"
        if not checking:
            path.write_text(layered_json(body, 4) + "\n", encoding="utf-8")
        elif differing := differences(json.loads(path.read_text(encoding="utf-8")), body, paper):
            wrong += differing
    for line in wrong[:20]:
        sys.stderr.write(f"{line}\n")
    return 1 if wrong else 0


def export() -> dict[str, dict[str, Any]]:
    """Return the export of each paper."""
    records = list(records_at(COMMIT))
    with worktree(COMMIT) as tree:
        found = judged_at(tree)
    code = code_digests(records)
    first = first_seals(records)
    last = {record["key"]: record["seals"] for record in records}
    papers: dict[str, dict[str, Any]] = {}
    for name, keys in found["keys"].items():
        body = papers.setdefault(name.split("/")[0], empty_body())
        if keys:
            body["experiments"][name] = {
                "keys": keys,
                "code": code.get(name, {}),
                "first_seals": grouped({key: first[key] for key in keys if key in first}),
            }
    for name, task in found["tasks"].items():
        ran = [key for exp in task["reads"] for key in found["keys"][exp] if key in last]
        for claim, entry in task["claims"].items():
            if entry["seal"] == "sealed":
                seals = f"{name}:{claim}"
                entry["seal"] = seal_state([(first[k].get(seals), last[k][seals]) for k in ran])
        papers[name.split("/")[0]]["tasks"][name] = task
    return papers


def seal_state(seals: list[tuple[Any, Any]]) -> str:
    """Return how a claim's last seals stand to the first ones of the same trials.

    `late`: some trial had run before the claim was there; `renewed`: the claim was another one
    when some trial first ran.
    """
    if any(first is None for first, _ in seals):
        return "late"
    return "renewed" if any(first != last for first, last in seals) else "sealed"


def empty_body() -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION, "commit": COMMIT, "profile": "cpu", "experiments": {},
        "tasks": {},
    }  # fmt: skip


def judged_at(tree: Path, *options: str) -> Any:
    """Run `judged_at.py` in a source tree and return what it prints."""
    command = [sys.executable, str(ROOT / "tools" / "judged_at.py"), str(tree)]
    env = {name: value for name, value in os.environ.items() if name != "REPRO_ROOT"}
    done = subprocess.run(
        [*command, str(ROOT / "harness"), *options],
        cwd=tree,
        env=env,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


@contextmanager
def worktree(commit: str) -> Iterator[Path]:
    """Check a commit out beside the repository, and remove it afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def code_digests(records: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Return, per experiment, the digest of its code at each commit that its records ran at."""
    ran: dict[str, set[str]] = {}
    for record in records:
        ran.setdefault(record["provenance"]["commit"], set()).add(record["experiment"])
    found: dict[str, dict[str, str]] = {}
    for commit, experiments in sorted(ran.items()):
        with tempfile.TemporaryDirectory() as folder:
            source = git("archive", commit, "harness", "reproductions")
            with tarfile.open(fileobj=io.BytesIO(source)) as archive:
                archive.extractall(folder, filter="data")
            digests = judged_at(Path(folder), "--code-only")["code"]
        for name in experiments:
            found.setdefault(name, {})[commit] = digests[name]
    return found


def first_seals(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return, by key, the seals of the first record that was committed for each trial.

    A trial whose experiment got another version, or further parameters, is the same trial: an
    earlier record is one of it if it agrees in every parameter that it has.
    """
    history: dict[str, dict[tuple[str, ...], dict[tuple[Any, ...], Any]]] = {}
    seen: set[str] = set()
    for commit in git("rev-list", "--reverse", COMMIT, "--", "results").decode().split():
        for blob in packs_at(commit).values():
            if blob in seen:
                continue
            seen.add(blob)
            for record in read_pack(blob):
                names = tuple(sorted(record["params"]))
                values = tuple(record["params"][name] for name in names)
                known = history.setdefault(record["experiment"], {}).setdefault(names, {})
                known.setdefault(values, record)
    return {record["key"]: first_of(record, history[record["experiment"]]) for record in records}


def first_of(
    record: dict[str, Any], known: dict[tuple[str, ...], dict[tuple[Any, ...], Any]]
) -> dict[str, Any]:
    """Return the seals of the earliest record of the same trial, itself where it is the first."""
    params = record["params"]
    found = [
        same
        for names, by_values in known.items()
        if (same := by_values.get(tuple(params.get(name) for name in names)))
    ]
    earliest: dict[str, Any] = min(found, key=lambda same: same["provenance"]["started_at"])
    return dict(earliest["seals"])


def records_at(commit: str) -> Iterator[dict[str, Any]]:
    """Yield the committed records of a commit."""
    for blob in packs_at(commit).values():
        yield from read_pack(blob)


def packs_at(commit: str) -> dict[str, str]:
    """Return the blobs of a commit's packs by path."""
    listed = git("ls-tree", "-r", commit, "--", "results").decode().splitlines()
    rows = [(line.split("\t")[1], line.split()[2]) for line in listed]
    return {path: blob for path, blob in sorted(rows) if path.endswith(".jsonl.gz")}


def read_pack(blob: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a pack by its blob."""
    for line in gzip.decompress(git("cat-file", "blob", blob)).decode().split("\n"):
        if line:
            yield json.loads(line)["record"]


def git(*arguments: str) -> bytes:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], stdout=subprocess.PIPE, check=True
    ).stdout


def grouped(seals: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return seals with the keys of all trials that carry just them, in the keys' order."""
    groups: dict[str, dict[str, Any]] = {}
    for key, value in seals.items():
        group = groups.setdefault(json.dumps(value, sort_keys=True), {"seals": value, "keys": []})
        group["keys"].append(key)
    return list(groups.values())


def differences(old: Any, new: Any, where: str) -> list[str]:
    """Return the places in which two JSON values differ, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = sorted(old.keys() | new.keys())
        return [
            line
            for name in names
            for line in differences(old.get(name), new.get(name), f"{where} {name}")
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [
            line
            for number, pair in enumerate(zip(old, new, strict=True))
            for line in differences(*pair, f"{where}[{number}]")
        ]
    if isinstance(old, float) and isinstance(new, float):
        same = math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    else:
        same = old == new
    return [] if same else [f"{where}: committed {old!r}, now {new!r}"]


if __name__ == "__main__":
    sys.exit(main())
