"""A paper in a package of its own: installed, run and tested as the tutorial tells it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT

EXAMPLE = ROOT / "examples" / "swa"
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
MOST_LINES = 250


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of packages with the example in it; a build leaves files, so of a copy."""
    source = tmp_path_factory.mktemp("source") / "swa"
    packages = tmp_path_factory.mktemp("packages")
    shutil.copytree(EXAMPLE, source)
    python(packages, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
           "--no-build-isolation", "--target", str(packages), str(source))  # fmt: skip
    return packages


def python(packages: Path, *words: str, cwd: Path = ROOT) -> str:
    """Run Python with the example installed, which must succeed; return what it prints."""
    root = packages.parent / "results"
    root.mkdir(exist_ok=True)
    env = {**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}", "REPRO_ROOT": str(root)}
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_it_runs_from_a_package_of_its_own(installed: Path) -> None:
    python(installed, "-m", "harness.cli", "run", "swa", "--profile", "smoke")
    told = python(installed, "-m", "harness.cli", "check", "swa", "--profile", "smoke", "--json")
    rows = {row["claim"]: row for row in json.loads(told)}
    assert rows.keys() == {"swa_gains", "average_beats_its_nets"}
    assert all(row["verdict"] == "UNTESTED" and row["reason"] for row in rows.values())


@pytest.mark.slow
def test_it_passes_its_own_tests(installed: Path) -> None:
    done = python(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=EXAMPLE)
    assert "4 passed" in done


def test_it_is_short() -> None:
    files = [
        path for path in (EXAMPLE / "swa").rglob("*") if path.suffix in (".py", ".toml", ".csv")
    ]
    lines = [line for path in files for line in path.read_text().splitlines() if line.strip()]
    assert len(lines) < MOST_LINES


def test_the_tutorial_shows_every_file_whole() -> None:
    shown = dict(re.findall(r"<!-- from: (\S+) -->\n```\w+\n(.*?)```", TUTORIAL, re.DOTALL))
    files = {
        str(path.relative_to(EXAMPLE)): path.read_text(encoding="utf-8")
        for path in EXAMPLE.glob("*/**/*")
        if path.suffix in (".py", ".toml", ".csv")
    }
    assert shown == {name: code for name, code in files.items() if code}
