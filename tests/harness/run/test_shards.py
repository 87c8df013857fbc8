"""Shards: each trial lies in one, what it starts from beside it or awaited, and none is missed."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from harness.declare.experiment import Estimate, Needs
from harness.declare.profiles import Profile
from harness.declare.table import Table, value
from harness.declare.task import Task
from harness.errors import UsageError
from harness.registry import Library
from harness.run.executors.worker import InlineExecutor
from harness.run.plan import Plan, make_plan
from harness.run.runner import Runner, Summary
from harness.run.shards import Shard, cut, in_shard, parse_shard, parts_of, slurm_script
from harness.store.store import RecordStore
from harness.store.trial import each_with_upstream
from tests.harness import inline_lab as lab
from tests.harness.conftest import Cli
from tests.harness.toy_paper import make_toy_paper

NUM_HEADS = 6


def heads_grid(profile: Profile) -> Iterator[lab.Head]:
    for k in range(NUM_HEADS):
        yield lab.Head(x=1, k=k, seed=0)
    yield lab.Head(x=2, k=0, seed=0)


HEADS = replace(
    lab.HEAD,
    id="lab/heads",
    grid=heads_grid,
    # The whole of what starts from one base takes more than half of the time.
    estimate=lambda head: Estimate(seconds=1.0),
)
task = Task("lab/heads", reads=(HEADS,), table=Table.of(value("y", float, "It.")), own_kind="table")


def plan_of(store: RecordStore) -> Plan:
    return make_plan([task], "cpu", store, lab.LIMITS)


def run(store: RecordStore, plan: Plan) -> Summary:
    library = Library(
        tasks={task.id: task}, modules={task.id: __name__},
        experiments={one.id: one for one in (lab.BASE, HEADS)},
    )  # fmt: skip
    facts = {**lab.FACTS, "overrides": {}}
    return Runner(plan, store, library, InlineExecutor(), lab.Silent(), facts=facts).run()


def test_each_trial_lies_in_one_shard_and_shards_are_alike(store: RecordStore) -> None:
    plan = plan_of(store)
    number_of = cut(plan, 2)
    assert number_of.keys() == plan.items.keys()
    assert [part.trials for part in parts_of(plan, 2)] == [5, 4]
    small = next(item.trial for item in plan.items.values() if item.trial.params["x"] == 2)
    (source,) = small.upstream or (small,)
    assert number_of[source.key] == number_of[small.key], "a small group was torn apart"
    # What lies in another shard is there too where an own trial starts from it.
    for number in (1, 2):
        keys = in_shard(plan, Shard(number, 2)).items.keys()
        own = {key for key in plan.items if number_of[key] == number}
        assert own <= keys and keys == {
            each.key for each in each_with_upstream(plan.items[key].trial for key in own)
        }


def test_more_shards_than_trials_leave_some_empty(store: RecordStore) -> None:
    plan = plan_of(store)
    assert sum(part.trials for part in parts_of(plan, 40)) == len(plan.items)


def test_shards_on_one_disk_run_what_both_start_from_once(store: RecordStore) -> None:
    plan, found = plan_of(store), list[Summary]()
    lab.calls.clear()
    threads = [
        Thread(target=lambda n=n: found.append(run(store, in_shard(plan, Shard(n, 2)))))
        for n in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert [summary.num_left for summary in found] == [0, 0]
    assert len(lab.calls) == len(set(lab.calls)) == len(plan.items)


def test_shards_on_other_disks_come_together_by_their_archives(tmp_path: Path) -> None:
    toys = []
    for name in ("whole", "1", "2", "3"):
        (tmp_path / name).mkdir()
        toys.append(make_toy_paper(tmp_path / name))
    whole, *others = toys
    for number, toy in enumerate(others, start=1):
        assert toy.repro("run", "toylab", "--shard", f"{number}/3").returncode == 0
        assert not toy.csv().exists()
        file = str(tmp_path / f"{number}.tar.gz")
        assert toy.repro("records", "export", file, "--profile", "smoke").returncode == 0
    for number in (1, 3):
        assert whole.repro("records", "import", str(tmp_path / f"{number}.tar.gz")).returncode == 0
    told = whole.repro("plan", "toylab", "--shards", "3").stderr
    assert "without all results: shard 2/3\n" in told
    whole.repro("records", "import", str(tmp_path / "2.tar.gz"))
    assert "0 run, 12 reused" in whole.repro("run", "toylab").stderr
    assert sorted(Counter(start for toy in toys for start in toy.starts()).values()) == [1] * 12


def test_the_script_for_slurm_is_one_that_bash_and_sbatch_take(tmp_path: Path) -> None:
    toy = make_toy_paper(tmp_path)
    script = toy.repro("plan", "toylab", "--shards", "16", "--slurm").stdout
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    first, *rest = script.splitlines()
    assert first == "#!/bin/bash"
    asked = asked_of_slurm(script)
    assert asked["array"] == "1-16" and asked["mem"] == "1024M" and asked["time"] == "30"
    assert rest[-1].startswith("repro run toylab --profile smoke --jobs 1 --shard ")


def test_the_script_for_slurm_asks_for_what_trials_need_and_are_declared_to_take(
    store: RecordStore,
) -> None:
    def asked(needs: Needs) -> dict[str, str]:
        # For the bases nothing is declared.
        heads = replace(
            HEADS,
            needs=needs,
            estimate=lambda head: Estimate(
                seconds=7200.0 if head.k == 0 else 60.0, memory_bytes=2**30
            ),
        )
        limits = replace(lab.LIMITS, has_cuda=True)
        plan = make_plan([replace(task, reads=(heads,))], "cpu", store, limits)
        return asked_of_slurm(slurm_script(plan, 2, "lab/heads"))

    plain = asked(Needs())
    # Each shard has one head of two hours, and some of a minute.
    assert int(plain["time"]) == pytest.approx(2 * 122.5, abs=3)
    assert plain["mem"] == f"{2 * 2**10}M"
    assert plain.keys().isdisjoint({"gpus", "exclusive"})
    assert asked(Needs(memory_bytes=3 * 2**30))["mem"] == f"{4 * 2**10}M"
    assert "exclusive" in asked(Needs(exclusive=True))
    on_a_card = asked(Needs(device="cuda"))
    assert on_a_card["gpus"] == "1" and on_a_card["mem"] == f"{10 * 2**10}M"


def asked_of_slurm(script: str) -> dict[str, str]:
    """Return what a script's head asks for by its option."""
    found = {}
    for line in script.splitlines()[1:]:
        if line.startswith("#"):
            parts = re.fullmatch(r"#SBATCH --([a-z-]+)(?:=(\S+))?", line)
            assert parts, line
            found[parts[1]] = parts[2] or ""
    return found


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--shards", "99999"), "--shards 99999: cut into 1 to 10000"),
        (("--shards", "-3"), "--shards -3: cut into 1 to 10000"),
        (("--slurm",), "--shards 0: cut into 1 to 10000"),
        (("--shards", "2", "--slurm", "--json"), "--slurm prints a script: leave out --json"),
    ],
)
def test_a_plan_of_shards_that_cannot_be_made_names_its_option(
    cli: Cli, words: Sequence[str], told: str
) -> None:
    done = cli("plan", "toylab", *words)
    assert done.code == 2 and told in done.err and not done.out


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "1/0", "a/b", "1/99999"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--shard"):
        parse_shard(text)
