"""What the tests of claims share: evaluating one, and what holds for all claims and figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.claims import Claim, Verdict, evaluate
from harness.figures import draw
from harness.provenance.seals import seal
from harness.reference import load_reference
from harness.task import Task
from reproductions.asymvalley import paper_numbers

FOLDER = Path(paper_numbers.__file__).parent


def every_claim(tasks: Mapping[str, Task]) -> list[Any]:
    """Return every claim with its task, to parametrize a test with."""
    return [
        pytest.param(task, claim, id=f"{task.id}:{claim.id}")
        for task in tasks.values()
        for claim in task.claims
    ]


def decide(task: Task, claim: Claim, table: pd.DataFrame) -> Verdict:
    """Evaluate a claim where it is decidable: at `paper`, unless it is exact and on a CPU."""
    profile = "paper" if "paper" in claim.profiles else "cpu"
    table = table.reindex(columns=task.columns.names)
    return evaluate(claim, table, columns=task.columns, profile=profile)


def check_profiles(claim: Claim) -> None:
    """Assert that exact claims are decided at smoke, the others at cpu or by the paper's number."""
    assert claim.deterministic == (claim.grade == "exact")
    assert ("smoke" in claim.profiles) == (claim.grade == "exact")
    if claim.grade == "exact":
        return
    assert claim.out_of_profile
    if claim.threshold_from == "paper":
        assert claim.profiles == ("paper",)
    else:
        assert claim.profiles == ("cpu", "gpu", "paper")
        assert claim.where.endswith("; threshold: ours, see DEV-08")


def check_seals(task: Task) -> None:
    """Assert that no two claims of a task are one."""
    assert len({str(seal(task, claim, {})) for claim in task.claims}) == len(task.claims)


def check_figure(task: Task, table: pd.DataFrame) -> None:
    """Assert that a figure draws at both widths, with all seeds and with one, and is described."""
    reference = load_reference(FOLDER, task.id.split("/")[1])
    one = table[table["seed"] == 0]
    assert draw(task, table=table, reference=reference, profile="cpu", width="double")
    assert draw(task, table=one, reference=reference, profile="smoke", width="single")
    assert len(task.alt.split()) >= 8
    assert task.caption and task.alt not in task.caption
