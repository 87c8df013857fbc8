"""`repro doctor` of tasks: what their trials need that this machine has not."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.commands.common import Asked
from harness.commands.doctor import _needs
from harness.declare.experiment import Needs
from harness.declare.table import Table
from harness.declare.task import Task
from harness.registry import Library
from harness.store.workspace import Workspace
from tests.harness.commands.varied import told
from tests.harness.conftest import Cli, Done
from tests.harness.inline_lab import BASE, HEAD, Head


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


def test_what_is_missing_is_told(cli: Cli) -> None:
    assert told_of(cli, "toylab", TOY_NEEDS="no_such_package") == {
        "experiment toylab/squares": [
            "needs the package no_such_package, which is not installed (12 of 12 trials)"
        ]
    }


def test_what_has_a_result_needs_nothing_more(lab: Cli) -> None:
    found = told_of(lab, "toylab", "--profile", "cpu", TOY_NEEDS="no_such_package")
    assert found == {"experiment toylab/squares": ["nothing is missing (12 trials)"]}


def test_where_nothing_is_run_at_a_profile_what_runs_it_is_said(cli: Cli) -> None:
    done = cli("doctor", "toylab", "--profile", "gpu", "--json")
    assert "has no trial at gpu: repro run toylab/tab01 --profile cpu" in done.err
    assert experiments(done) == {}


def test_what_an_upstream_trial_lacks_is_told_of_what_starts_from_it(tmp_path: Path) -> None:
    """As the thing that is missing, not as the trial that is blocked."""
    base = replace(BASE, needs=Needs(packages=("absent_one",)))
    head = replace(HEAD, uses=(replace(HEAD.uses[0], experiment=base),))
    task = Task("lab/tab01", reads=(head,), table=Table.of(Head))
    asked = Asked(Library(), [task], "smoke", Workspace(tmp_path))
    why = "needs the package absent_one, which is not installed (2 of 2 trials)"
    assert [(row["what"], row["found"]) for row in _needs(asked)] == [
        ("experiment lab/base", why),
        ("experiment lab/head", why),
    ]
