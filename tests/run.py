"""Run the tests in two groups: most on all cores, then those that need the machine alone.

`python -m tests.run [options of pytest]` is what `make test` calls. Both groups always run, each
in a pytest of its own with the options given; the last lines say how they went and what was
skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import pytest

# Many tests wait for processes of their own: half as many workers again as cores keep these busy.
# A worker holds up to 1.2 GB.
NUM_WORKERS = min(8, (os.cpu_count() or 1) * 3 // 2)
# Neighbours in a file share its fixtures, so each worker gets a stretch of them and takes from
# another's only when its own are done.
SIDE_BY_SIDE = ("-n", str(NUM_WORKERS), "--dist", "worksteal")
SETTINGS = {
    # On nets as small as those of tests a second thread costs more than it gives, tenfold where
    # other processes want the cores too.
    "OMP_NUM_THREADS": "1",
    # Hundreds of processes import our modules: what one of them compiled, the others read.
    "PYTHONDONTWRITEBYTECODE": "",
}
PASSING = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How one group went."""

    name: str
    code: int
    """What pytest exited with."""
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    """How many tests ended how."""
    skipped: Counter[str] = field(default_factory=Counter)
    """How many were skipped for which reason."""

    def told(self) -> str:
        """Return one line for the end of the run."""
        if self.code == pytest.ExitCode.NO_TESTS_COLLECTED:
            return f"{self.name}: no test of this group was asked for"
        words = {"failures": "failed", "passed": "passed", "errors": "errors", "skipped": "skipped"}
        counts = ", ".join(f"{self.counts[w]} {words[w]}" for w in words if self.counts[w])
        how = "passed" if self.code == 0 else f"FAILED, exit code {self.code}"
        return f"{self.name}: {how} ({counts or 'no test ended'}) in {self.seconds:.0f} s"


def run_group(name: str, options: Sequence[str]) -> Outcome:
    """Run pytest in a process of its own and read what it stored."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", f"--junitxml={report}", *options]
        code = subprocess.run(command, env={**os.environ, **SETTINGS}, check=False).returncode
        return read_outcome(name, code, report)


def read_outcome(name: str, code: int, report: Path) -> Outcome:
    """Read a report in JUnit's format; one that is not there leaves the exit code."""
    if not report.exists():
        return Outcome(name=name, code=code)
    suite = next(ElementTree.parse(report).getroot().iter("testsuite"))
    counts = {word: int(suite.get(word, 0)) for word in ("failures", "errors", "skipped")}
    counts["passed"] = int(suite.get("tests", 0)) - sum(counts.values())
    return Outcome(
        name=name,
        code=code,
        seconds=float(suite.get("time", 0.0)),
        counts=Counter(counts),
        skipped=Counter(node.get("message", "") for node in suite.iter("skipped")),
    )


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """Return 0 if no group failed and a test ran, else the first code that says why not."""
    failed = [one.code for one in outcomes if one.code not in PASSING]
    if failed:
        return failed[0]
    return min(one.code for one in outcomes)


def main(options: Sequence[str]) -> int:
    """Run both groups and tell the outcome."""
    outcomes = [
        run_group("tests side by side", [*SIDE_BY_SIDE, *options, "--timing=without"]),
        run_group("timed tests, alone", [*options, "-n", "0", "--timing=only"]),
    ]
    skipped = sum((one.skipped for one in outcomes), Counter())
    print()
    for reason, count in skipped.most_common():
        print(f"skipped {count}: {reason}")
    for one in outcomes:
        print(one.told())
    return exit_code(outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
