"""A sweep that is killed at any instant and started again ends with the same table."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .toy_paper import ToyPaper, make_toy_paper

NUM_KILLS = 20
NUM_TRIALS = 60
SETTINGS = {"TOY_COUNT": "20", "TOY_MS": "30"}
COMMAND = ("run", "toylab/tab01", "--jobs", "2")


@pytest.mark.slow
def test_killed_at_any_instant_it_ends_with_the_same_table(tmp_path: Path) -> None:
    calm = new_toy(tmp_path / "calm")
    start = time.monotonic()
    assert calm.repro(*COMMAND, **SETTINGS).returncode == 0
    duration_s = time.monotonic() - start
    expected = calm.csv().read_bytes()
    assert len(expected.splitlines()) == NUM_TRIALS + 1

    # A checkout is killed again and again until a run gets through; then comes a fresh one.
    dice = random.Random(20241120)
    unfinished = num_kills = num_checkouts = 0
    while num_kills < NUM_KILLS:
        toy = new_toy(tmp_path / f"killed-{num_checkouts}")
        num_checkouts += 1
        while num_kills < NUM_KILLS:
            group = num_kills % 2 == 1
            if not kill_one_run(toy, dice.uniform(0.0, duration_s), group=group):
                break
            num_kills += 1
            unfinished += len(toy.records()) < NUM_TRIALS
        finish(toy, expected)
    assert unfinished >= NUM_KILLS / 2


def new_toy(folder: Path) -> ToyPaper:
    folder.mkdir()
    return make_toy_paper(folder)


def kill_one_run(toy: ToyPaper, after_s: float, *, group: bool) -> bool:
    """Start a run, kill it after a time, check what is left; False if it ended before that."""
    stored = results(toy)
    num_events = len(toy.events())
    runner = toy.start(*COMMAND, **SETTINGS)
    try:
        runner.wait(timeout=after_s)
    except subprocess.TimeoutExpired:
        pass
    else:
        assert runner.returncode == 0
        return False
    workers = descendants(runner.pid)
    if group:
        os.killpg(runner.pid, signal.SIGKILL)
    else:
        os.kill(runner.pid, signal.SIGKILL)
    assert_gone(workers, within_s=1.0)
    runner.communicate()
    assert_no_second_start(toy, stored, num_events)
    return True


def finish(toy: ToyPaper, expected: bytes) -> None:
    """Run to the end and compare with what an undisturbed run gives."""
    stored = results(toy)
    num_events = len(toy.events())
    done = toy.repro(*COMMAND, **SETTINGS)
    assert done.returncode == 0, done.stderr
    assert_no_second_start(toy, stored, num_events)
    assert len(toy.records()) == NUM_TRIALS
    assert toy.csv().read_bytes() == expected
    assert not list(toy.root.rglob("*.rejected-*")), "a kill left half a record"


def results(toy: ToyPaper) -> set[str]:
    """Return the trials whose record is on disk, whole or not."""
    return {path.stem for path in toy.records()}


def assert_no_second_start(toy: ToyPaper, stored: set[str], num_events: int) -> None:
    """Check that one run started no trial twice, and none that had a record before."""
    started = [(e["x"], e["seed"]) for e in toy.events()[num_events:]]
    assert len(started) == len(set(started))
    assert len(started) + len(stored) <= NUM_TRIALS, "a trial with a record was started again"


def descendants(pid: int) -> list[int]:
    """Return the processes below one, from /proc."""
    found: list[int] = []
    pending = [pid]
    while pending:
        for listing in Path(f"/proc/{pending.pop()}/task").glob("*/children"):
            try:
                children = [int(word) for word in listing.read_text().split()]
            except OSError:
                continue
            found += children
            pending += children
    return found


def assert_gone(pids: list[int], *, within_s: float) -> None:
    end = time.monotonic() + within_s
    left = pids
    while left and time.monotonic() < end:
        left = [pid for pid in left if is_alive(pid)]
        time.sleep(0.01)
    names = [Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in left]
    assert not left, f"{names} outlived their runner by {within_s} s"


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that nobody has waited for does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
