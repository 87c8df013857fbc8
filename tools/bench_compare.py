"""Did benchmarks become slower since another commit? Both are run in turn, here and now.

`python -m tools.bench_compare NAMES --ref HEAD~1 [--fail]` checks the other commit out in a
temporary git worktree. What is counted, or added up from records, is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from scipy.stats import mannwhitneyu

from harness.commands.common import print_rows, say
from harness.errors import HarnessError, RunError, UsageError

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
"""Of four runs each: there, here, here, there. A drift meets both alike."""
MARGIN, LEVEL = 0.05, 0.01
"""By more than this share times must have moved, as the rank test says at this level."""
FOLDER = Path("tests/benchmarks")


def change(before: Sequence[float], after: Sequence[float]) -> str:
    """Return `slower` or `faster` if times moved by more than the margin, else `no change`."""
    for word, high, low in (("slower", after, before), ("faster", before, after)):
        moved = [sample * (1 + MARGIN) for sample in low]
        if mannwhitneyu(high, moved, alternative="greater").pvalue < LEVEL:
            return word
    return "no change"


def compare(root: Path, ref: str, names: Sequence[str], *, rounds: int = ROUNDS) -> list[str]:
    """Print what became of the named benchmarks since a commit; return what is slower.

    Raises UsageError for a name or a commit that is none, RunError for a benchmark that fails.
    """
    pooled: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    with checked_out(root, ref) as other:
        trees = (other, root)
        for file in files_named(trees, names):
            sides = [side for side, tree in enumerate(trees) if (tree / FOLDER / file).exists()]
            turns = [0, 1, 1, 0] * rounds if len(sides) == 2 else sides
            say(f"{file}: {len(turns)} runs")
            for side in turns:
                where = (ref, "this checkout")[side]
                for name, samples in measured(trees[side], file, where).items():
                    pooled[name][side].extend(samples)
    rows = [told(name, *pair) for name, pair in sorted(pooled.items())]
    print_rows(rows, as_json=False, columns=["name", "before", "now", "ratio", "change"])
    return [row["name"] for row in rows if row["change"] == "slower"]


def told(name: str, before: Sequence[float], now: Sequence[float]) -> dict[str, Any]:
    """Return the row of a benchmark: medians in seconds, their ratio, and what changed."""
    if not (before and now):
        return {"name": name, "change": "only before" if before else "only now"}
    row = {"name": name, "before": f"{median(before):.4g} s", "now": f"{median(now):.4g} s"}
    return {**row, "ratio": median(now) / median(before), "change": change(before, now)}


def files_named(trees: Sequence[Path], names: Sequence[str]) -> list[str]:
    """Return the benchmark files of either tree by names or patterns."""
    files: set[str] = set()
    for name in names:
        matches = {path.name for tree in trees for path in (tree / FOLDER).glob(f"bench_{name}.py")}
        if not matches:
            raise UsageError(f"no benchmark matches {name!r}: see {FOLDER}")
        files |= matches
    return sorted(files)


@contextmanager
def checked_out(root: Path, ref: str) -> Iterator[Path]:
    """Check a commit out in a folder of its own, for as long as it is needed."""
    git = ["git", "-C", str(root), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "other"
        if subprocess.run([*git, "add", "--detach", "--quiet", str(tree), ref]).returncode:
            raise UsageError(f"{ref} cannot be checked out: name a commit of this repository")
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def measured(tree: Path, file: str, where: str) -> dict[str, list[float]]:
    """Return the seconds that one run of a benchmark file finds, by file and name.

    where: what the tree is called.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        path.touch()  # nothing is written where all is skipped
        if run_pytest(tree, file, f"--benchmark-json={path}"):
            raise RunError(f"{file} did not run to its end in {where}: see above")
        text = path.read_text(encoding="utf-8")
    return {
        f"{Path(file).stem}: {entry['name']}": entry["stats"]["data"]
        for entry in (json.loads(text)["benchmarks"] if text else [])
        if not any(map(entry["extra_info"].get, ("exact", "from_records")))
    }


def run_pytest(tree: Path, file: str, *options: str) -> int:
    """Run a benchmark file of a tree in a pytest of its own and return its exit code."""
    # Which the tree's own fixture sets today, and earlier commits left to their caller.
    settings = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    path = os.pathsep.join([str(tree), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, **settings, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}
    # Earlier commits' own options skip benchmarks.
    command = [sys.executable, "-m", "pytest", str(FOLDER / file), "-o", "addopts=", "-q", *options]
    # Its lines are for the person; stdout is for our rows.
    return subprocess.run(
        [*command, "--benchmark-quiet"], cwd=tree, env=environment, stdout=sys.stderr
    ).returncode


def main(words: Sequence[str] | None = None) -> int:
    """Compare as the command line asks; return 1 for a slowdown with --fail."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench_compare")
    everything = "names or patterns of bench_<name>.py [all]"
    parser.add_argument("names", nargs="*", default=["*"], help=everything)
    parser.add_argument("--ref", default="HEAD~1", help="the commit to compare with [HEAD~1]")
    parser.add_argument("--fail", action="store_true", help="exit 1 if something became slower")
    asked = parser.parse_args(words)
    try:
        slower = compare(ROOT, asked.ref, asked.names)
    except HarnessError as error:
        parser.error(str(error))
    return 1 if asked.fail and slower else 0


if __name__ == "__main__":
    sys.exit(main())
