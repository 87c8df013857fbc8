"""A card that turns up: packed for at home, used without network, killed, gone on with, and home.

The card is a stand-in for nvidia-smi, which every record made with it names.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT
from tests.harness.card import (
    CARD,
    CUT_OFF,
    LACKED,
    needs_cut_off,
    put_card,
    put_wheels,
    python_without,
)
from tests.harness.conftest import Cli
from tests.harness.staged_folder import make_folder
from tests.harness.toy_paper import EXPERIMENT, TASK, TRIAL, ToyPaper
from tests.waiting import wait_for

TOO_LONG_S, SHORT_S = 10_000, 100
"""Of trials that no budget here has room for, and of those that each has room for."""
NUM_TRIALS, NUM_SHORT = 12, 8
NEEDS = 'Needs(device="cuda", gpu_bytes=2**30, data=("verse",), packages'
ESTIMATE = f"estimate=lambda p: Estimate(seconds={TOO_LONG_S} if p.seed == 2 else {SHORT_S})"
ON_A_CARD = (
    EXPERIMENT.replace('("smoke", "cpu")', '("smoke", "cpu", "gpu")')
    .replace("Needs(packages", NEEDS)
    .replace("needs=needs,", f"needs=needs, {ESTIMATE},")
    .replace("import Experiment", "import Estimate, Experiment")
)
READS = TRIAL.replace('    log("start"', '    assert ctx.dataset("verse").value\n    log("start"')


@dataclass(frozen=True, slots=True)
class Lab:
    """A toy paper whose trials at `gpu` need a card and data, and what stands in for a card."""

    toy: ToyPaper
    folder: Path

    def env(self) -> dict[str, str]:
        """Return what a machine with a card has and one at home has not."""
        return {"PATH": f"{self.folder / 'card'}{os.pathsep}{os.environ['PATH']}"}

    def left(self, out: Path) -> list[dict[str, Any]]:
        return list(json.loads((out / "left.json").read_text()))


@pytest.fixture
def lab(toy: ToyPaper, tmp_path: Path) -> Lab:
    toy.experiment.write_text(ON_A_CARD)
    toy.trial.write_text(READS)
    make_folder(tmp_path / "staged", tmp_path / "catalogue.toml")
    toy.env |= {
        "REPRO_DATA": str(tmp_path / "staged"),
        "REPRO_CATALOGUE": str(tmp_path / "catalogue.toml"),
    }
    put_card(tmp_path / "card")
    return Lab(toy, tmp_path)


@dataclass(frozen=True, slots=True)
class Target:
    """Another machine: a clone of the committed tree, a Python of its own, and what it got."""

    lab: Lab
    clone: Path
    python: Path

    def make(self, **env: str) -> subprocess.Popen[str]:
        """Start `make gpu` where there is no network and nobody else's data."""
        words = ["gpu", f"PYTHON={self.python}", f"FROM={self.lab.folder / 'carry'}"]
        toy = self.lab.toy.environment(**self.lab.env(), **env)
        for name in ("REPRO_ROOT", "REPRO_DATA"):
            toy.pop(name)
        return subprocess.Popen(
            [*CUT_OFF, "make", *words, "ONLY=toylab"],
            cwd=self.clone,
            env={**toy, "PYTHONPATH": str(self.lab.toy.packages)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    @property
    def found(self) -> Path:
        return self.clone / "runs" / "found"


@pytest.fixture
def target(lab: Lab) -> Target:
    clone = lab.folder / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    return Target(lab, clone, python_without(LACKED, lab.folder / "python"))


@needs_cut_off
@pytest.mark.slow
def test_what_a_card_found_comes_home(lab: Lab, target: Target, cli: Cli) -> None:
    carried = lab.folder / "carry"
    packed = cli("data", "pack", "toylab", "--profile", "gpu", "--out", str(carried / "data"))
    assert packed.code == 0 and "verse" in packed.out, packed.err
    put_wheels(LACKED, carried / "wheels")

    # The budget has no room for a third of the trials.
    first = target.make()
    told, _ = first.communicate(timeout=120)
    assert first.returncode == 0, told
    assert f"{NUM_SHORT} records" in told and "4 trials left" in told
    assert {row["state"] for row in lab.left(target.found)} == {"missing"}
    assert len(lab.left(target.found)) == NUM_TRIALS - NUM_SHORT

    # What they really take is known by now. Killed in the middle of the next one:
    second = target.make(TOY_GATE=str(lab.folder / "gate"))
    wait_for(lambda: len(lab.toy.starts()) > NUM_SHORT)
    os.killpg(second.pid, signal.SIGKILL)
    second.communicate(timeout=60)
    third = target.make()
    told, _ = third.communicate(timeout=120)
    assert third.returncode == 0, told
    assert f"{NUM_TRIALS} records, 0 trials have none" in told
    assert len(lab.toy.events("end")) == NUM_TRIALS

    # At home, where there is no card.
    assert cli("records", "import", str(target.found / "records.tar.gz")).code == 0
    done = cli("run", "toylab", "--profile", "gpu")
    assert done.code == 0 and f"0 run, {NUM_TRIALS} reused, 0 not run here" in done.err
    told = lab.toy.csv("gpu").with_suffix(".json").read_text()
    assert CARD in told, "a record must name what stood in for a card"


def test_an_interrupt_still_exports(lab: Lab, tmp_path: Path) -> None:
    gate, out = tmp_path / "gate", tmp_path / "found"
    words = ("gpu", "toylab", "--out", str(out))
    runner = lab.toy.start(*words, TOY_GATE=str(gate), **lab.env())
    wait_for(lambda: bool(lab.toy.starts()))
    runner.send_signal(signal.SIGINT)
    _, err = runner.communicate(timeout=60)
    assert runner.returncode == 130 and "no result yet" in err
    assert len(lab.left(out)) == NUM_TRIALS


def test_a_trial_that_fails_is_told_and_keeps_no_other_from_home(lab: Lab, tmp_path: Path) -> None:
    out = tmp_path / "found"
    done = lab.toy.repro("gpu", "toylab", "--out", str(out), TOY_MODES="raise", **lab.env())
    assert done.returncode == 3, done.stderr
    assert (out / "records.tar.gz").is_file()
    (failed,) = [row for row in lab.left(out) if row["state"] == "failed"]
    assert "this trial is broken" in failed["note"]


BLOCK = """
[[block]]
name = "some"
about = "One seed of three."
seconds = 60
tasks = ["toylab/tab01"]
only.seed = [0]
"""


def test_what_no_block_asks_for_is_not_left(lab: Lab, tmp_path: Path) -> None:
    out, blocks = tmp_path / "found", tmp_path / "blocks.toml"
    blocks.write_text(BLOCK)
    done = lab.toy.repro("gpu", "--blocks", str(blocks), "--out", str(out), **lab.env())
    assert done.returncode == 0 and "0 left" in done.stderr, done.stderr
    assert lab.left(out) == [] and len(lab.toy.records()) == NUM_TRIALS // 3


def test_what_another_block_found_before_is_exported_too(lab: Lab, tmp_path: Path) -> None:
    for file in (lab.toy.experiment, lab.toy.trial):
        text = file.read_text().replace("toylab/squares", "toylab/cubes")
        lab.toy.add_file(f"cubes/{file.name}", text)
    text = TASK.replace("tab01", "fig02").replace("squares.experiment", "cubes.experiment")
    lab.toy.add_task("fig02", text, "cubes/fig02.py")
    out, blocks = tmp_path / "found", tmp_path / "blocks.toml"
    blocks.write_text(BLOCK + BLOCK.replace("some", "more").replace("tab01", "fig02"))
    for block in ("more", "some"):
        words = ("gpu", block, "--blocks", str(blocks), "--out", str(out))
        done = lab.toy.repro(*words, **lab.env())
        assert done.returncode == 0, done.stderr
    assert f"{2 * NUM_TRIALS // 3} records, 0 trials have none" in done.stderr


def test_without_a_card_nothing_is_run(lab: Lab, cli: Cli) -> None:
    done = cli("gpu", "toylab", PATH=str(lab.folder))
    assert (done.code, done.out) == (2, "")
    assert "no card" in done.err and not lab.toy.records()


def test_a_plan_tells_what_a_card_would_be_asked(lab: Lab, cli: Cli) -> None:
    done = cli("plan", "toylab", "--profile", "gpu", PATH=str(lab.folder))
    minutes = ((NUM_TRIALS - NUM_SHORT) * TOO_LONG_S + NUM_SHORT * SHORT_S) / 60
    assert f"and {minutes:.1f} core-min of what is blocked here" in done.err


def test_a_folder_that_cannot_be_written_is_told_before_anything_runs(lab: Lab) -> None:
    (lab.folder / "found").write_text("a file")
    words = ("gpu", "toylab", "--out", str(lab.folder / "found"))
    done = lab.toy.repro(*words, **lab.env())
    assert done.returncode == 3 and "found" in done.stderr and "Traceback" not in done.stderr
    assert not lab.toy.starts()
