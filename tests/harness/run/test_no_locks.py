"""A run on a file system without locks, as some network mounts are: one warning, and all else."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.harness.toy_paper import ToyPaper

STAND_IN = """
import fcntl, os

def flock(*_):
    raise OSError({number}, os.strerror({number}))

fcntl.flock = flock
"""
"""Read by every process at its start, workers too."""


# The second is what NFS says of a folder, which cannot be open for writing.
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EBADF])
def test_a_run_is_told_once_that_there_are_no_locks_and_stores_all(
    number: int, toy: ToyPaper, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(STAND_IN.format(number=number))
    env = {"PYTHONPATH": os.pathsep.join([str(site), toy.environment()["PYTHONPATH"]])}
    for again in (False, True):
        done = toy.repro("run", "toylab", "--profile", "cpu", **env)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("the file system has no locks: run one command at a time") == 1
        assert ("0 run" in done.stderr) == again
    assert toy.csv("cpu").is_file()
    assert [*(toy.root / "results" / "toylab" / "records").glob("*.cpu.jsonl.gz")]
