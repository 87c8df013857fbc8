"""What a release uploads: an sdist and the wheel that pip makes of it, tried without a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT

NOT_BUILT = ("runs", "site", "results", "figures", "tests", "build", ".*", "*.egg-info")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"


@pytest.mark.slow
def test_it_lists_and_runs_outside_a_checkout(tmp_path: Path) -> None:
    source, built, packages, empty = (tmp_path / name for name in ("a", "b", "packages", "empty"))
    # A build leaves files behind.
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*NOT_BUILT))
    empty.mkdir()

    def python(*words: str, cwd: Path = empty, path: str = str(packages)) -> str:
        env = {**os.environ, "PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, *words], cwd=cwd, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def repro(*words: str) -> str:
        return python("-m", "harness.cli", *words)

    python("-c", BUILD, str(built), cwd=source, path="")
    (sdist,) = built.iterdir()
    python("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
           "--target", str(packages), str(sdist))  # fmt: skip
    assert "supar/fig06" in repro("list")
    repro("run", "supar/tab01", "--profile", "smoke")
    assert "SμPar" in repro("table", "supar/tab01", "--profile", "smoke")
    assert (empty / "runs").is_dir()
