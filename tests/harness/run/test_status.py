"""Status: one row per trial, also for records that cannot be used or are older than their code."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tests.harness import forked
from tests.harness.conftest import Cli
from tests.harness.toy_paper import ToyPaper

RUN = ("run", "toylab", "--executor", "inline")


def rows(cli: Cli, *words: str, **env: str) -> list[dict[str, Any]]:
    return list(json.loads(cli("status", "toylab", *words, "--json", **env).out))


def states(cli: Cli) -> Counter[str]:
    return Counter(row["state"] for row in rows(cli))


def test_every_state_is_shown(toy: ToyPaper, cli: Cli) -> None:
    assert states(cli) == {"missing": 12}
    assert cli(*RUN).code == 0
    assert states(cli) == {"done": 12}
    first, second, third, *_ = toy.records()
    first.write_text(first.read_text()[:40])
    second.unlink()
    third.write_text(third.read_text().replace('"square":', '"cube":'))
    assert states(cli) == {"done": 9, "rejected": 2, "missing": 1}
    notes = [row["note"] for row in rows(cli, "--failed")]
    assert len(notes) == 3
    assert {"torn", "edited"} <= {word for note in notes for word in note.replace(":", "").split()}


def test_failures_carry_their_error(toy: ToyPaper, cli: Cli) -> None:
    run = forked.run(toy, "run", "toylab", "--executor", "inline", TOY_MODES="raise")
    assert run.returncode == 3
    assert "repro status --failed" in run.stderr
    # One reading in a process of its own: there nothing is kept from the run.
    found = toy.rows("status", "toylab", "--failed", TOY_MODES="raise")
    assert [row["state"] for row in found] == ["failed"]
    assert all("this trial is broken" in row["note"] for row in found)
    shown = cli("status", "toylab", "--failed", TOY_MODES="raise")
    assert "this trial is broken" in " ".join(shown.out.split())


def test_changed_code_makes_records_stale_and_comments_do_not(toy: ToyPaper, cli: Cli) -> None:
    assert cli(*RUN).code == 0
    text = toy.trial.read_text()
    toy.trial.write_text("# A comment.\n" + text)
    assert not any(row["stale"] for row in rows(cli))
    toy.trial.write_text(text.replace("point.x ** 2", "point.x ** 3"))
    found = rows(cli)
    assert [row["stale"] for row in found] == [True] * 12
    assert {row["state"] for row in found} == {"done"}
