"""What a release uploads: an sdist and the wheel that pip makes of it, tried without a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from tests.checkout import ROOT
from tests.composes.pages import NAMES
from tests.method_pages import examples

NOT_BUILT = ("runs", "site", "results", "figures", "tests", "build", ".*", "*.egg-info")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
OTHERS = ("3.12", "3.13")
"""Pythons that are supported beside the least one, by which all other tests run."""


def called(words: Sequence[str | Path], cwd: Path, **env: str) -> str:
    """Return what a command prints; it must succeed."""
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, env=os.environ | env, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def starts(version: str) -> bool:
    """Return whether a Python is at hand, maybe through pyenv."""
    try:
        called([f"python{version}", "--version"], ROOT, PYENV_VERSION=version)
    except (OSError, AssertionError):
        return False
    return True


def test_version_pythons_and_licence_are_the_same_everywhere() -> None:
    """In the package, its citation, the changes and the badges."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = {name: (ROOT / name).read_text() for name in ("README.md", "CHANGELOG.md")}
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    pythons = [each.rpartition(" ")[2] for each in project["classifiers"]]
    licence = project["license"]["text"]
    assert pythons[1:] == list(OTHERS) and project["requires-python"] == f">={pythons[0]}"
    assert cited["version"] == project["version"] and cited["license"] == licence
    assert f"\n## {project['version']} ({cited['date-released']})\n" in texts["CHANGELOG.md"]
    assert f"python-{pythons[0]}_to_{pythons[-1]}-blue" in texts["README.md"]
    assert f"licence-{licence.replace('-', '--')}-blue" in texts["README.md"]


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    source, built = tmp_path / "source", tmp_path / "built"
    # A build leaves files behind.
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*NOT_BUILT))
    called([sys.executable, "-c", BUILD, built], source, PYTHONPATH="")
    (found,) = built.iterdir()
    return found


def runs_a_task(repro: Sequence[str | Path], empty: Path, **env: str) -> None:
    """Assert that `repro` lists, runs and prints a task in an empty folder."""
    assert "supar/fig06" in called([*repro, "list"], empty, **env)
    called([*repro, "run", "supar/tab01", "--profile", "smoke"], empty, **env)
    assert "SμPar" in called([*repro, "table", "supar/tab01", "--profile", "smoke"], empty, **env)
    assert (empty / "runs").is_dir()


@pytest.mark.slow
def test_it_lists_and_runs_outside_a_checkout(sdist: Path, tmp_path: Path) -> None:
    packages, empty = tmp_path / "packages", tmp_path / "empty"
    empty.mkdir()
    called([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
            "--no-build-isolation", "--target", packages, sdist], empty)  # fmt: skip
    repro = [sys.executable, "-m", "harness.cli"]
    runs_a_task(repro, empty, PYTHONPATH=str(packages))


@pytest.mark.net
@pytest.mark.slow
def test_its_wheel_runs_in_new_environments(sdist: Path, tmp_path: Path) -> None:
    """By each other Python at hand, else by this one: with what pip brings along, and the methods
    as their pages show them."""
    for version in [v for v in OTHERS if starts(v)] or [".".join(map(str, sys.version_info[:2]))]:
        env, wheels, empty = (tmp_path / version / name for name in ("env", "wheels", "empty"))
        empty.mkdir(parents=True)
        called([f"python{version}", "-m", "venv", env], empty, PYENV_VERSION=version)
        pip = [env / "bin" / "pip", "--quiet"]
        # What a PYTHONPATH names would be found first.
        alone = {"PYTHONPATH": ""}
        called([*pip, "wheel", "--no-deps", "--wheel-dir", wheels, sdist], empty, **alone)
        (wheel,) = wheels.iterdir()
        known = ["install", "-c", ROOT / "constraints.txt"]
        # As `make setup` does: unpinned it is whatever build the index has first.
        called([*pip, *known, "torch"], empty, **alone)
        called([*pip, *known, wheel], empty, **alone)
        runs_a_task([env / "bin" / "repro"], empty, **alone)
        for name in NAMES:
            code = "\n".join(examples(name))
            called([env / "bin" / "python", "-c", code], empty, **alone)
