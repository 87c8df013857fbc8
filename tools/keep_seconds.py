"""How long a paper takes at smoke scale, kept beside it, so that plans of others can tell.

`python -m tools.keep_seconds [PAPER ...]` runs each paper by itself in an empty folder, in one
process, and writes its `smoke_seconds.toml`; where none is named, the papers that have one. Seconds
are those in which a core was busy with a trial and its processes, or with a task's table, verdicts
and figure: other work on the machine adds nothing. What a run takes besides comes from a few tasks,
each run twice as a command: the second time no trial is left.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import Future
from math import fsum
from pathlib import Path
from statistics import median

from harness.commands.run import run_facts
from harness.errors import RunError
from harness.executors.inline import InlineExecutor
from harness.executors.job import Job, Report
from harness.executors.lifetime import silence_libraries
from harness.measure.machine import cpu_name
from harness.publish.refresh import Refresher
from harness.registry import Library, load_registry
from harness.run.kept_seconds import FILE, KeptSeconds, Starts
from harness.run.plan import make_plan, probe_limits
from harness.run.progress import PlainProgress
from harness.run.runner import Runner
from harness.store.atomic import write_text
from harness.store.store import RecordStore
from harness.store.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
# Core-seconds at smoke, and on what machine they were taken: of `repro list` (start_s), a task's
# table, verdicts and figure (task_s), a run and each worker besides (run_s, worker_s), a trial.
# Written by python -m tools.keep_seconds, never by hand.
"""
NUM_STARTS = 5
NUM_TASKS = 3
"""Some draw a figure or need torch, others do not: the median is within a factor of two of each."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""As workers of a run have it."""


class TimedExecutor(InlineExecutor):
    """Runs trials here, and notes how long cores were busy with each."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def submit(self, job: Job) -> Future[Report]:
        before = busy_s()
        future = super().submit(job)
        self.seconds.setdefault(job.experiment, []).append(busy_s() - before)
        return future


def busy_s() -> float:
    """Return for how long cores were busy with this process and those that it has waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return fsum(each.ru_utime + each.ru_stime for each in used)


def measured(paper: str, root: Path) -> KeptSeconds:
    """Run a paper at smoke scale in an empty folder; return what its trials and tables took.

    Raises RunError where a trial does not run here, or one or a table fails.
    """
    library, store = load_registry(), RecordStore(Workspace(root))
    plan = make_plan(library.select([paper]), "smoke", store, probe_limits())
    executor, facts, starts = TimedExecutor(), run_facts(), starts_s()
    runner = Runner(
        plan, store, library, executor, PlainProgress(), facts={**facts, "overrides": {}}
    )
    summary = runner.run()
    if summary.failed or summary.num_blocked or summary.num_left:
        raise RunError(f"{paper} does not run whole at smoke on this machine: see above")
    refresh, before = Refresher(store.workspace, library, "smoke"), busy_s()
    refresh.rest(plan.tasks)
    refresh_s = busy_s() - before
    if refresh.broken:
        raise RunError(f"tables or figures of {paper} cannot be made: {refresh.broken}")
    task_s = refresh_s / len(plan.tasks)
    means = {name: fsum(each) / len(each) for name, each in sorted(executor.seconds.items())}
    besides = besides_s(library, paper, means, task_s)
    return KeptSeconds(
        commit=facts["commit"],
        cpu=cpu_name(facts["machine"]),
        start_s=round(min(starts + starts_s()), 4),
        task_s=round(task_s, 4),
        run_s=round(besides.run_s, 4),
        worker_s=round(besides.worker_s, 4),
        seconds={name.split("/")[1]: round(mean_s, 4) for name, mean_s in means.items()},
    )


def besides_s(library: Library, paper: str, means: Mapping[str, float], task_s: float) -> Starts:
    """Return what runs of a few tasks take besides trials and tables, themselves and their worker.

    Each is run twice: the second time no trial is left.
    """
    run, worker = [], []
    for task_id, trials_s in typical_tasks(library, paper, means):
        with tempfile.TemporaryDirectory() as folder:
            words = ("run", task_id, "--jobs", "1")
            first_s, again_s = (command_s(folder, *words) for _ in range(2))
        run.append(again_s - task_s)
        worker.append(first_s - again_s - trials_s)
    return Starts(run_s=median(run), worker_s=median(worker))


def typical_tasks(
    library: Library, paper: str, means: Mapping[str, float]
) -> list[tuple[str, float]]:
    """Return a cheap, a usual and a dear task of a paper, and what their trials take.

    No two of them run the same trials.
    """
    found: dict[frozenset[str], tuple[float, str]] = {}
    with tempfile.TemporaryDirectory() as empty:
        store = RecordStore(Workspace(Path(empty)))
        for task in library.select([paper]):
            items = make_plan([task], "smoke", store, probe_limits()).items
            names = [item.trial.experiment.id for item in items.values()]
            if names:
                trials_s = fsum(means[name] for name in names)
                found.setdefault(frozenset(items), (trials_s, task.id))
    ranked = sorted(found.values())
    middles = [(2 * part + 1) * len(ranked) // (2 * NUM_TASKS) for part in range(NUM_TASKS)]
    return [(task_id, took_s) for took_s, task_id in map(ranked.__getitem__, middles)]


def starts_s() -> list[float]:
    """Return for how long a core is busy with a process of `repro list` right now, a few times."""
    with tempfile.TemporaryDirectory() as empty:
        return [command_s(empty, "list") for _ in range(NUM_STARTS)]


def command_s(folder: str, *words: str) -> float:
    """Return for how long cores are busy with a command of `repro` in a folder."""
    before = busy_s()
    subprocess.run(
        [sys.executable, "-m", "harness.cli", *words],
        cwd=ROOT,
        env={**os.environ, "REPRO_ROOT": folder},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return busy_s() - before


def to_toml(kept: KeptSeconds) -> str:
    """Return the file's text."""
    values = kept.model_dump()
    seconds: Mapping[str, float] = values.pop("seconds")
    lines = [f"{name} = {_value(value)}" for name, value in values.items()]
    lines += ["", "[seconds]", *(f"{word} = {_value(each)}" for word, each in seconds.items())]
    return HEAD + "\n".join(lines) + "\n"


def _value(value: str | float) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def keep(paper: str, folder: Path) -> None:
    """Write a paper's file into a folder, from a run in a fresh process."""
    env = {name: value for name, value in os.environ.items() if name != "REPRO_DATA"}
    subprocess.run(
        [sys.executable, "-m", "tools.keep_seconds", paper, "--here", str(folder)],
        cwd=ROOT,
        env={**env, **ONE_THREAD, "OMP_WAIT_POLICY": "passive"},
        check=True,
    )


def main() -> None:
    """Write the files of some papers, or of those that have one."""
    parser = argparse.ArgumentParser(prog="python -m tools.keep_seconds", description=__doc__)
    parser.add_argument("papers", nargs="*", help="those that keep one by default")
    parser.add_argument("--here", type=Path, help="run in this process, and write into this folder")
    options = parser.parse_args()
    papers = load_registry().papers
    if options.here:
        (paper,) = options.papers
        silence_libraries()
        with tempfile.TemporaryDirectory() as folder:
            write_text(options.here / FILE, to_toml(measured(paper, Path(folder))))
        return
    for paper in options.papers or [p for p in papers if (papers[p].folder / FILE).is_file()]:
        keep(paper, papers.find(paper).folder)
        print(f"wrote {paper}/{FILE}")  # noqa: T201


if __name__ == "__main__":
    main()
