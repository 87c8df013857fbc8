"""A sweep that is killed at any instant and started again ends with the same table."""

from __future__ import annotations

import os
import random
import signal
import time
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


@pytest.mark.slow
def test_killed_at_any_instant_it_ends_with_the_same_table(tmp_path: Path) -> None:
    calm = new_toy(tmp_path / "calm")
    run_to_end(calm)
    expected = calm.csv().read_bytes()
    assert len(expected.splitlines()) == NUM_TRIALS + 1

    # One in each eighth of the trials; a checkout is killed up to four times, each time in the run
    # that goes on from the one before. Attacks kill before and after the trials too.
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
            if kill_one_run(toy, instants[num_kills], group=group):
                num_kills += 1
                unfinished += len(toy.records()) < NUM_TRIALS
        stored, num_events = results(toy), len(toy.events())
        run_to_end(toy, TOY_SLOWNESS="0")
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


def kill_one_run(toy: ToyPaper, share: float, *, group: bool) -> bool:
    """Kill a run amid a share of its trials, check what is left; False if it ended before that."""
    stored, num_events = results(toy), len(toy.events())
    runner = forked.start(toy, *COMMAND, **SETTINGS)
    while len(toy.events()) - num_events < share * (NUM_TRIALS - len(stored)):
        if runner.poll() is not None:
            _, err = runner.communicate()
            assert runner.returncode == 0, err
            return False
        time.sleep(0.005)
    workers = descendants(runner.pid)
    if group:
        os.killpg(runner.pid, signal.SIGKILL)
    else:
        os.kill(runner.pid, signal.SIGKILL)
    assert_gone(workers)
    runner.communicate()
    assert_no_second_start(toy, stored, num_events)
    return True


def run_to_end(toy: ToyPaper, **more: str) -> None:
    done = forked.run(toy, *COMMAND, **SETTINGS, **more)
    assert done.returncode == 0, done.stderr


def results(toy: ToyPaper) -> set[str]:
    """Return the trials whose record is on disk, whole or not."""
    return {path.stem for path in toy.records()}


def assert_no_second_start(toy: ToyPaper, stored: set[str], num_events: int) -> None:
    """Check that one run started no trial twice, and none that had a record before."""
    started = [(e["x"], e["seed"]) for e in toy.events()[num_events:]]
    assert len(started) == len(set(started))
    assert len(started) + len(stored) <= NUM_TRIALS, "a trial with a record was started again"
