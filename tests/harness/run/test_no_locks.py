"""Runs on a file system without locks, as some network mounts are: leases do their work."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.harness.toy_paper import ToyPaper
from tests.waiting import wait_for

STAND_IN = """
import fcntl, os

def flock(*_):
    raise OSError({number}, os.strerror({number}))

fcntl.flock = flock
"""
"""Read by every process at its start, workers too."""


# The second is what NFS says of a folder, which cannot be open for writing.
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EBADF])
def test_two_runs_at_once_do_each_trial_once(number: int, toy: ToyPaper, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(STAND_IN.format(number=number))
    path = os.pathsep.join([str(site), toy.environment()["PYTHONPATH"]])
    runs = [toy.start("run", "toylab", PYTHONPATH=path, TOY_MS="100") for _ in range(2)]
    for one in runs:
        _, err = one.communicate(timeout=120)
        assert one.returncode == 0, err
    assert len(toy.starts()) == len(set(toy.starts())) == 12
    assert toy.csv().is_file()
    assert not [*toy.root.rglob("*.lease")], "a lease was left behind"


def test_a_lease_of_a_process_that_died_is_taken_over(toy: ToyPaper, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(STAND_IN.format(number=errno.ENOLCK))
    path = os.pathsep.join([str(site), toy.environment()["PYTHONPATH"]])
    first = toy.start("run", "toylab", PYTHONPATH=path, TOY_MS="600000", TOY_SLOWNESS="1")
    wait_for(lambda: toy.events())
    first.kill()
    first.communicate()
    done = toy.repro("run", "toylab", PYTHONPATH=path, TOY_MS="600000", TOY_SLOWNESS="0")
    assert done.returncode == 0, done.stderr
    assert "12 run" in done.stderr
