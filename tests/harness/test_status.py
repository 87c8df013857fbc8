"""Status: one row per trial, also for records that cannot be used or are older than their code."""

from __future__ import annotations

from collections import Counter

from .conftest import Cli
from .toy_paper import ToyPaper


def states(toy: ToyPaper, **env: str) -> Counter[str]:
    return Counter(row["state"] for row in toy.rows("status", "toylab", **env))


def test_every_state_is_shown(toy: ToyPaper) -> None:
    assert states(toy) == {"missing": 12}
    assert toy.repro("run", "toylab", "--executor", "inline").returncode == 0
    assert states(toy) == {"done": 12}
    first, second, third, *_ = toy.records()
    first.write_text(first.read_text()[:40])
    second.unlink()
    third.write_text(third.read_text().replace('"square":', '"cube":'))
    assert states(toy) == {"done": 9, "rejected": 2, "missing": 1}
    notes = [row["note"] for row in toy.rows("status", "toylab", "--failed")]
    assert len(notes) == 3
    assert {"torn", "edited"} <= {word for note in notes for word in note.replace(":", "").split()}


def test_failures_carry_their_error(toy: ToyPaper, cli: Cli) -> None:
    run = toy.repro("run", "toylab", "--executor", "inline", TOY_MODES="raise")
    assert run.returncode == 3
    assert "repro status --failed" in run.stderr
    rows = toy.rows("status", "toylab", "--failed", TOY_MODES="raise")
    assert [row["state"] for row in rows] == ["failed"]
    assert all("this trial is broken" in row["note"] for row in rows)
    shown = cli("status", "toylab", "--failed", TOY_MODES="raise")
    assert "this trial is broken" in shown.out


def test_changed_code_makes_records_stale_and_comments_do_not(toy: ToyPaper) -> None:
    assert toy.repro("run", "toylab", "--executor", "inline").returncode == 0
    source = toy.folder / "experiments" / "squares.py"
    text = source.read_text()
    source.write_text("# A comment.\n" + text)
    assert not any(row["stale"] for row in toy.rows("status", "toylab"))
    source.write_text(text.replace('params["x"] ** 2', 'params["x"] ** 3'))
    rows = toy.rows("status", "toylab")
    assert [row["stale"] for row in rows] == [True] * 12
    assert {row["state"] for row in rows} == {"done"}
