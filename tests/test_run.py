"""What `make test` runs: both groups, each alone in its process, and one exit code for both."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.checkout import ROOT
from tests.conftest import ASKED_FOR

SOME_TESTS = """
import os
import pytest

IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ

def test_a_plain_one_shares_the_machine():
    assert IS_WORKER

def test_skipped():
    pytest.skip("no such machine")

@pytest.mark.timing
def test_a_timed_one_does_not():
    assert not IS_WORKER
"""


def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run both groups over one file, with our hooks and no plugin but the one for workers."""
    (folder / "test_some.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = timing\n", encoding="utf-8")
    own = ["-p", "tests.conftest", "-p", "xdist", "-p", "no:cacheprovider", "-n", "1"]
    # This test may itself be one of a worker, in a run that forbids skipping.
    hidden = ("PYTEST_XDIST", "REPRO_NO_SKIPS")
    env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    return subprocess.run(
        [sys.executable, "-m", "tests.run", *own, *options, str(folder)],
        cwd=ROOT,
        env={**env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_failing_group_fails_the_run_and_keeps_the_other_from_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, SOME_TESTS.replace("assert IS_WORKER", "assert not IS_WORKER"))
    assert done.returncode == 1, done.stderr
    assert "1 failed, 1 skipped" in done.stdout and "1 passed, 2 deselected" in done.stdout


def test_a_group_without_a_test_is_no_failure(tmp_path: Path) -> None:
    done = run(tmp_path, SOME_TESTS, "-k", "timed")
    assert done.returncode == 0, done.stderr
    assert "1 passed, 2 deselected" in done.stdout
    assert run(tmp_path, SOME_TESTS, "-k", "nothing").returncode == 5


def test_ci_asks_for_each_group_that_other_machines_may_skip() -> None:
    told = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    asked = re.findall(r"-m [\"']?([a-z]+(?: or [a-z]+)*)", told)
    assert {*ASKED_FOR} <= {word for words in asked for word in words.split(" or ")}
