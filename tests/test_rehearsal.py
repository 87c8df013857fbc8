"""A card's minutes, rehearsed: packed, carried, without network, killed once and resumed.

The Python there is that of these tests, Triton included, less two packages, which come from the
carried wheels, and less ourselves. It shows no lack of any other package.
"""

from __future__ import annotations

import heapq
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.commands.gpu import REHEARSED
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.errors import SpecError, UsageError
from harness.registry import load_registry
from harness.run.blocks import Block, chosen_blocks, load_blocks, trials_of
from harness.run.plan import declared
from harness.store.trial import Trial, each_with_upstream, trials_behind
from tests.checkout import ROOT
from tests.harness.card import CUT_OFF, LACKED, needs_cut_off, python_without
from tests.waiting import wait_for

BLOCKS = load_blocks(ROOT / "reproductions" / "gpu.toml")
MOST_CARRIED, MOST_BACK, MOST_FILES = 60 * 2**20, 16 * 2**20, 8
"""Bytes of all that is carried, a checkout too, and of a file that comes back; files that do."""
MOST_S, LATE_S = 180.0, 3
"""Seconds of a whole rehearsal, and those after a block's own in which its processes are gone."""
CARDS_CORES, CARDS_BYTES = 16, 139 * 2**30
"""Of the machine that has the card, and of the card: an H200's."""
COMPLETED = (
    "kernels/on_device", "lisa/tab01", "lisa/fig03", "lisa/fig04", "fg2u/abl_memory", "supar/fig06",
)  # fmt: skip
"""Tasks whose every trial is in a block, so that their claims are judged: as docs/gpu.md says."""
START_S = 20.0
"""Until the first trial begins: code and packages unpacked, a plan made, a process started."""
ENDED = re.compile(
    r"^(?P<name>[a-z]+): (?P<took>\d+) of (?P<limit>\d+) s, (?P<run>\d+) run,"
    r" (?P<reused>\d+) reused, (?P<blocked>\d+) not run here, \d+ failed, (?P<left>\d+) left$",
    re.MULTILINE,
)
"""What is said when a block ends."""


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_a_block_has_trials(block: Block) -> None:
    trials = list(block.trials(load_registry(), "gpu"))
    rehearsed = list(block.trials(load_registry(), "smoke"))
    assert rehearsed
    experiments = {trial.experiment.id for trial in trials}
    for task in block.chosen(load_registry()):
        # Seeds of one paper are not those of another.
        assert experiments & {each.id for each in task.reads}, f"nothing of {task.id}"
    for name, value in block.rehearse.items():
        assert value in {trial.params.get(name) for trial in rehearsed}


@pytest.mark.parametrize("only", [{"checkr": ["outputs"]}, {"checker": ["outputs", "output"]}])
def test_a_value_that_no_trial_has_is_refused(only: dict[str, list[Scalar]]) -> None:
    block = Block(name="right", about="It.", seconds=1, tasks=["kernels/on_device"], only=only)
    with pytest.raises(SpecError, match=r"block right: not every value of checke?r"):
        list(block.trials(load_registry(), "gpu"))


def test_blocks_and_tasks_are_not_mixed() -> None:
    path = ROOT / "reproductions" / "gpu.toml"
    assert [block.name for block in chosen_blocks(path, ["races", "right"])] == ["races", "right"]
    assert chosen_blocks(path, ["lisa/tab01"]) == []
    with pytest.raises(UsageError, match="give blocks"):
        chosen_blocks(path, ["races", "lisa/tab01"])


def test_a_rehearsal_takes_three_minutes_and_a_run_nine() -> None:
    seconds = sum(block.seconds for block in BLOCKS)
    assert seconds <= 9 * 60, "make gpu has nine minutes"
    assert REHEARSED * seconds <= MOST_S


def test_what_a_block_runs_is_declared_to_fit_its_seconds() -> None:
    done: set[str] = set()
    for block in BLOCKS:
        trials = each_with_upstream(block.trials(load_registry(), "gpu"))
        new = [trial for trial in trials if trial.key not in done]
        done |= {trial.key for trial in new}
        assert wall_s(new) <= block.seconds, f"{block.name}: {wall_s(new):.0f} s"
        # Stacks share the card: side by side they take no less than one after another.
        stacked_s = sum(declared(t).seconds for t in new if t.experiment.together is not None)
        assert stacked_s <= block.seconds, f"{block.name}: {stacked_s:.0f} s of stacks"


def wall_s(trials: Sequence[Trial]) -> float:
    """Return what trials take by what they declare, each begun when cores and card have room."""
    running: list[tuple[float, int]] = []
    now, taken = 0.0, 0
    for trial in trials:
        seconds, num_bytes = declared(trial).seconds, trial.needs.gpu_bytes
        alone = trial.needs.exclusive
        while running and (alone or len(running) == CARDS_CORES or taken + num_bytes > CARDS_BYTES):
            now, freed = heapq.heappop(running)
            taken -= freed
        if alone:
            now += seconds
        else:
            heapq.heappush(running, (now + seconds, num_bytes))
            taken += num_bytes
    return max([now, *(end for end, _ in running)])


def test_what_is_said_to_be_complete_after_all_blocks_is() -> None:
    library = load_registry()
    asked = {trial.key for trial in trials_of(BLOCKS, library, "gpu")}
    for name in COMPLETED:
        left = [t.name for t in trials_behind(library.select([name]), "gpu") if t.key not in asked]
        assert not left, left
        assert name in (ROOT / "docs" / "gpu.md").read_text()


@pytest.mark.parametrize("profile", ["smoke", "gpu"])
def test_kernels_are_checked_in_one_process(profile: Profile) -> None:
    """What runs alone follows each other there; what breaks it costs its own trial."""
    (block,) = (block for block in BLOCKS if block.name == "right")
    trials = list(block.trials(load_registry(), profile))
    assert len(trials) >= 7 and all(trial.needs.exclusive for trial in trials)


def bytes_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def pack(folder: Path) -> None:
    """Make the folder that is carried; of data that are not here, nothing."""
    words = ["make", "gpu-pack", f"TO={folder}", f"PYTHON_VERSION=3.{sys.version_info.minor}"]
    if not os.environ.get("REPRO_DATA"):
        words.append("ONLY=right memory races unrolled")
    subprocess.run([*words, f"VENV={Path(sys.prefix)}"], cwd=ROOT, check=True)


def ended(told: str) -> dict[str, dict[str, int]]:
    """Return the numbers of each block that ended, by its name."""
    found = (match.groupdict() for match in ENDED.finditer(told))
    return {each.pop("name"): {word: int(text) for word, text in each.items()} for each in found}


def rehearse(code: Path, carried: Path, python: Path, only: str = "") -> subprocess.Popen[str]:
    """Start the rehearsal where there is neither a network nor anybody's data."""
    words = ["make", "gpu", "REHEARSE=1", f"PYTHON={python}", f"FROM={carried}", f"ONLY={only}"]
    env = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return subprocess.Popen(
        [*CUT_OFF, *words],
        cwd=code,
        env={**env, "HOME": str(code)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def unpacked(carried: Path, code: Path) -> None:
    with tarfile.open(carried / "code.tar.gz") as archive:
        archive.extractall(code, filter="data")


def must_fit(carried: Path) -> None:
    """Print the bytes of what is carried, and hold them against what a card's machine takes."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = tracked.stdout.decode().split("\0")[:-1]
    checkout = sum((ROOT / name).stat().st_size for name in names)
    print(
        f"carried: {bytes_of(carried) / 2**20:.1f} MiB beside {checkout / 2**20:.1f} of a checkout"
    )
    assert bytes_of(carried) + checkout <= MOST_CARRIED


def must_have_run(blocks: dict[str, dict[str, int]], found: Path) -> None:
    """Hold what blocks said when they ended, and what comes back, against each other."""
    assert [*blocks] == [block.name for block in BLOCKS]
    for each in blocks.values():
        assert each["took"] <= each["limit"] + LATE_S and each["run"] + each["reused"] > 0
    assert blocks[BLOCKS[0].name]["reused"], "what the killed run found is lost"
    sizes = [path.stat().st_size for path in found.iterdir()]
    assert len(sizes) <= MOST_FILES and max(sizes) <= MOST_BACK
    left = {row["key"] for row in json.loads((found / "left.json").read_text())}
    assert left <= {trial.key for trial in trials_of(BLOCKS, load_registry(), "smoke")}
    # A trial that two blocks ask for may be told by both: no other one is.
    asked = [trial.key for block in BLOCKS for trial in block.trials(load_registry(), "smoke")]
    told = sum(each["left"] + each["blocked"] for each in blocks.values())
    assert len(left) <= told <= len(left) + len(asked) - len({*asked})


@pytest.mark.timing
@pytest.mark.rehearsal
@needs_cut_off
def test_all_blocks_run_from_what_is_carried(tmp_path: Path) -> None:
    carried, code = tmp_path / "carried", tmp_path / "code"
    pack(carried)
    must_fit(carried)
    python = python_without(LACKED, tmp_path / "python")

    start = time.monotonic()
    unpacked(carried, code)
    first = rehearse(code, carried, python)
    runs = code / "runs" / "rehearsal" / "runs"
    wait_for(lambda: any(runs.glob("locks/*.lock")))
    started_s = time.monotonic() - start
    wait_for(lambda: any(runs.glob("records/lisa/*/*.json")))
    os.killpg(first.pid, signal.SIGKILL)
    before = first.communicate(timeout=60)[0]
    again = time.monotonic()
    second = rehearse(code, carried, python)
    after = second.communicate(timeout=2 * MOST_S)[0]
    took_s = time.monotonic() - again
    blocks = ended(after)
    print(before, after, sep="\n")
    print("seconds:", *(f"{name} {each['took']}/{each['limit']}" for name, each in blocks.items()))
    print(f"first trial after {started_s:.1f} s; all blocks, once more, in {took_s:.0f} s")

    assert second.returncode == 0, after
    assert started_s <= START_S and took_s <= MOST_S
    must_have_run(blocks, code / "runs" / "found")
    swept = [path.read_text() for path in (runs / "records").glob("supar/lr_sweep/*.json")]
    assert swept and all('"together"' in record for record in swept), "nets were not stacked"
    num_left = blocks["right"]["left"]
    while num_left:
        # Others keep this machine busy: the same command goes on from there.
        told = rehearse(code, carried, python, "right").communicate(timeout=MOST_S)[0]
        more, num_left = num_left, ended(told)["right"]["left"]
        assert num_left < more, f"a kernel never ends: {told}"
