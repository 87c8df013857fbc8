"""Where the checkout under test lies, and what of it a smoke run reaches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.declare.task import Task

ROOT = Path(__file__).resolve().parents[1]
PAPERS = ROOT / "reproductions"


def runs_at_smoke(task: Task) -> bool:
    """Say whether a task has any trial at `smoke`.

    What a compiler makes has no smaller scale, and needs tools that a smoke run does without.
    """
    return any(experiment.params_of("smoke") for experiment in task.reads)
