"""`repro doctor` of tasks: what their trials need that this machine has not."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.commands.doctor import _needs
from harness.declare.experiment import Needs
from harness.declare.table import Table
from harness.declare.task import Task
from harness.store.workspace import Workspace
from tests.harness.commands.varied import VARIANT, told
from tests.harness.conftest import Cli, Done
from tests.harness.inline_lab import BASE, HEAD, Head

ABSENT = "no_such_package other_absent_one"


def told_of(cli: Cli, *words: str, **env: str) -> dict[str, list[Any]]:
    """Return what stands of each experiment, below what stands of the machine."""
    return experiments(cli("doctor", *words, "--json", **env))


def experiments(done: Done) -> dict[str, list[Any]]:
    rows = told(done)
    found: dict[str, list[Any]] = {}
    for row in rows:
        if row["what"].startswith("experiment "):
            found.setdefault(row["what"], []).append(row["found"])
    return found


def test_without_anything_asked_for_it_tells_the_machine_alone(cli: Cli) -> None:
    alone = [row["what"] for row in told(cli("doctor", "--json"))]
    assert {"cpu", "memory_bytes", "writable", "data digits"} <= {*alone}
    more = [row["what"] for row in told(cli("doctor", "toylab", "--json"))]
    assert more == [*alone, "experiment toylab/squares"]


def test_a_person_reads_words_where_json_has_values(cli: Cli) -> None:
    lines = dict(line.split(maxsplit=1) for line in cli("doctor").out.splitlines())
    assert lines["writable"] == "yes"
    assert lines["versions"].startswith(f"torch {version('torch')}, numpy ")
    assert re.fullmatch(r"[0-9.]+ GiB", lines["memory_bytes"])


def test_what_is_missing_is_told_thing_by_thing(cli: Cli) -> None:
    assert told_of(cli, "toylab", TOY_NEEDS=ABSENT) == {
        "experiment toylab/squares": [
            "needs the package no_such_package, which is not installed (12 of 12 trials)",
            "needs the package other_absent_one, which is not installed (12 of 12 trials)",
        ]
    }


def test_the_grid_is_that_of_the_options(lab: Cli) -> None:
    name = "experiment toylab/squares"
    assert told_of(lab, "toylab", "--set", "x=8") == {name: ["nothing is missing (3 trials)"]}
    words = ("toylab", "--set", "x=8", "--seeds", "2", "--profile", "cpu")
    (found,) = told_of(lab, *words, TOY_NEEDS="no_such_package")[name]
    assert "no_such_package" in found and "(2 of 2 trials)" in found
    cohort = ("toylab", "--profile", "cpu", "--cohort", "cohort-1")
    assert told_of(lab, *cohort) == {name: ["nothing is missing (12 trials)"]}


def test_what_has_a_result_needs_nothing_more(lab: Cli) -> None:
    found = told_of(lab, "toylab", *VARIANT, TOY_NEEDS="no_such_package")
    assert found == {"experiment toylab/squares": ["nothing is missing (4 trials)"]}
    found = told_of(lab, "toylab", "--set", "x=8", TOY_NEEDS="no_such_package")
    assert "(3 of 3 trials)" in found["experiment toylab/squares"][0]


def test_where_nothing_is_run_at_a_profile_what_runs_it_is_said(cli: Cli) -> None:
    done = cli("doctor", "toylab", "--profile", "gpu", "--json")
    assert "has no trial at gpu: repro run toylab/tab01 --profile cpu" in done.err
    assert experiments(done) == {}


def test_what_an_upstream_trial_lacks_is_told_of_what_starts_from_it(tmp_path: Path) -> None:
    """As the thing that is missing, not as the trial that is blocked."""
    base = replace(BASE, needs=Needs(packages=("absent_one",), memory_bytes=2**60))
    head = replace(HEAD, uses=(replace(HEAD.uses[0], experiment=base),))
    task = Task("lab/tab01", reads=(head,), table=Table.of(Head))
    rows = _needs(Workspace(tmp_path), [task], "smoke", None)
    found = [(row["what"], row["found"].partition(", ")[0]) for row in rows]
    memory = "needs 1.07e+09 GiB"
    assert found == [
        (f"experiment lab/{name}", why)
        for name in ("base", "head")
        for why in ("needs the package absent_one", memory)
    ]
    assert all(row["found"].endswith("(2 of 2 trials)") for row in rows)
