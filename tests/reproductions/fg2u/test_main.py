"""The paper's own command: which methods fit a budget."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reproductions.fg2u.__main__ import app

OWN = """
import torch
from reproductions.fg2u import Problem

def problem():
    return (
        Problem(
            start=lambda phi, batch: batch,
            step=lambda state, phi, batch, number: state - 0.1 * (state - phi),
            outer_loss=lambda state, phi, batch: state.square().sum(),
            num_steps=12,
        ),
        torch.ones(100),
        torch.zeros(100),
    )

def wrong():
    return 1

def raising():
    raise KeyError("weights")
"""


def test_a_problem_of_ones_own_gets_a_row_per_method(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    words = ["choose", f"{tmp_path}/mine.py:problem", "--num-directions", "11", "--chunk", "2"]
    rows = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert [row["method"] for row in rows] == [
        "rgu", "rgu-checkpoint (root of T)", "fgu", "fg2u", "fg2u-zo", "trgu"
    ]  # fmt: skip
    by_name = {row["method"]: row for row in rows}
    assert by_name["fg2u"]["relative_error"] == pytest.approx(3.0)  # sqrt(99 / 11)
    assert by_name["rgu"]["relative_error"] == 0.0 and by_name["trgu"]["biased"]
    assert all(row["fits"] for row in rows)


def test_a_budget_parts_the_methods(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    words = ["choose", f"{tmp_path}/mine.py:problem", "--budget-gib", "1e-5"]
    told = CliRunner().invoke(app, words).stdout.splitlines()
    fits = [line.split("  ")[0] for line in told if " yes " in line]
    assert "trgu" in fits and "fgu" not in fits
    assert "12 inner steps, 100 entries of phi" in "\n".join(told)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("nosuch.py:problem", "with a file that is there"),
        ("mine.py:nosuch", "has no function 'nosuch'"),
        (
            "mine.py:raising",
            "mine.py:raising, called without arguments, raised KeyError: 'weights'",
        ),
        ("torn.py:problem", "torn.py raised SyntaxError"),
        ("mine.py:wrong", r"must return a tuple (problem, phi, batch)"),
    ],
)
def test_what_is_no_problem_is_told(tmp_path: Path, where: str, said: str) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "torn.py").write_text("def problem(:\n")
    done = CliRunner().invoke(app, ["choose", f"{tmp_path}/{where}"])
    assert done.exit_code == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1
