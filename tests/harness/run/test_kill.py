"""A sweep that is killed at any instant and started again ends with the same table."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.harness import forked
from tests.harness.processes import assert_gone, descendants
from tests.harness.toy_paper import ToyPaper, make_toy_paper
from tests.waiting import wait_for

NUM_KILLS = 8
"""Some for every stretch of a run; `make attack` kills by the hundred, and CI sixty times."""
NUM_TRIALS = 60
SETTINGS = {"TOY_COUNT": "20", "TOY_MS": "30"}
COMMAND = ("run", "toylab/tab01", "--jobs", "2")


@dataclass(slots=True)
class Timeline:
    """The phases of an undisturbed run, so that an instant of it can be found again.

    A machine that is busy now and idle later stretches and shrinks a run. So the instants among
    trials are found by what has happened, and start and end are timed anew by every run that
    comes to its end.
    """

    start_s: float = 0.0
    """From the launch to the first trial's start."""
    work_s: float = 0.0
    """From there to the last trial's start, in the run that had all trials to do."""
    end_s: float = 0.0
    """From there to the exit."""

    def learn(self, toy: ToyPaper, num_events: int, launch: float) -> None:
        """Take the times of a run that has just ended, from its part of the log."""
        starts = [event["t"] for event in toy.events()[num_events:]]
        if starts:
            self.start_s, self.end_s = starts[0] - launch, time.time() - starts[-1]
            self.work_s = self.work_s or starts[-1] - starts[0]

    def wait(self, fraction: float, toy: ToyPaper, runner: subprocess.Popen[str]) -> bool:
        """Wait for an instant of a run, `fraction` of the whole; False if it ends before that."""
        num_before, num_left = len(toy.events()), NUM_TRIALS - len(results(toy))
        at_s = fraction * (self.start_s + self.work_s + self.end_s)
        if at_s < self.start_s:
            return still_runs(runner, at_s)
        share = min(1.0, (at_s - self.start_s) / self.work_s)
        while len(toy.events()) - num_before < share * num_left:
            if not still_runs(runner, 0.005):
                return False
        return share < 1.0 or still_runs(runner, at_s - self.start_s - self.work_s)


def still_runs(runner: subprocess.Popen[str], for_s: float) -> bool:
    try:
        runner.wait(timeout=for_s)
    except subprocess.TimeoutExpired:
        return True
    return False


@pytest.mark.slow
def test_killed_at_any_instant_it_ends_with_the_same_table(tmp_path: Path) -> None:
    calm, timeline = new_toy(tmp_path / "calm"), Timeline()
    run_to_end(calm, timeline)
    expected = calm.csv().read_bytes()
    assert len(expected.splitlines()) == NUM_TRIALS + 1

    # Uniform instants, one in each eighth of the run; a checkout is killed up to four times,
    # each time in the run that goes on from the one before.
    dice = random.Random(20241120)
    instants = [(number + dice.random()) / NUM_KILLS for number in range(NUM_KILLS)]
    dice.shuffle(instants)
    unfinished = num_kills = num_checkouts = 0
    while num_kills < NUM_KILLS:
        toy = new_toy(tmp_path / f"killed-{num_checkouts}")
        num_checkouts += 1
        for _ in range(4):
            if num_kills == NUM_KILLS or len(toy.records()) == NUM_TRIALS:
                break
            group = num_kills % 2 == 1
            if kill_one_run(toy, timeline, instants[num_kills], group=group):
                num_kills += 1
                unfinished += len(toy.records()) < NUM_TRIALS
        stored, num_events = results(toy), len(toy.events())
        run_to_end(toy, timeline, TOY_SLOWNESS="0")
        assert_no_second_start(toy, stored, num_events)
        assert len(toy.records()) == NUM_TRIALS
        assert toy.csv().read_bytes() == expected
        assert not list(toy.root.rglob("*.rejected-*")), "a kill left half a record"
        assert num_checkouts < 2 * NUM_KILLS, "most runs end before they are killed"
    assert unfinished >= NUM_KILLS / 2


@pytest.mark.timing
def test_workers_amid_a_trial_die_with_their_runner_at_once(toy: ToyPaper) -> None:
    """A trial that would never end shows that it is not the trial's end that is waited for."""
    runner = toy.start(*COMMAND, TOY_GATE=str(toy.root / "never"))
    wait_for(lambda: len({event["pid"] for event in toy.events()}) == 2)
    workers = descendants(runner.pid)
    os.kill(runner.pid, signal.SIGKILL)
    assert_gone(workers, within_s=1.0)
    runner.communicate()


def new_toy(folder: Path) -> ToyPaper:
    folder.mkdir()
    return make_toy_paper(folder)


def kill_one_run(toy: ToyPaper, timeline: Timeline, instant: float, *, group: bool) -> bool:
    """Start a run, kill it at an instant, check what is left; False if it ended before that."""
    stored, num_events, launch = results(toy), len(toy.events()), time.time()
    runner = forked.start(toy, *COMMAND, **SETTINGS)
    if not timeline.wait(instant, toy, runner):
        timeline.learn(toy, num_events, launch)
        _, err = runner.communicate()
        assert runner.returncode == 0, err
        return False
    workers = descendants(runner.pid)
    if group:
        os.killpg(runner.pid, signal.SIGKILL)
    else:
        os.kill(runner.pid, signal.SIGKILL)
    assert_gone(workers)
    runner.communicate()
    assert_no_second_start(toy, stored, num_events)
    return True


def run_to_end(toy: ToyPaper, timeline: Timeline, **more: str) -> None:
    num_events, launch = len(toy.events()), time.time()
    done = forked.run(toy, *COMMAND, **SETTINGS, **more)
    timeline.learn(toy, num_events, launch)
    assert done.returncode == 0, done.stderr


def results(toy: ToyPaper) -> set[str]:
    """Return the trials whose record is on disk, whole or not."""
    return {path.stem for path in toy.records()}


def assert_no_second_start(toy: ToyPaper, stored: set[str], num_events: int) -> None:
    """Check that one run started no trial twice, and none that had a record before."""
    started = [(e["x"], e["seed"]) for e in toy.events()[num_events:]]
    assert len(started) == len(set(started))
    assert len(started) + len(stored) <= NUM_TRIALS, "a trial with a record was started again"
