"""Where the checkout under test lies, and what of it a smoke run reaches."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.measure.machine import source_state

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

    from harness.declare.task import Task

ROOT = Path(__file__).resolve().parents[1]
PAPERS = ROOT / "reproductions"
FIGURES_ONE_IN = int(os.environ.get("REPRO_FIGURES_ONE_IN", "4"))
"""To draw all figures takes a minute: tests draw some, others with every commit."""


def runs_at_smoke(task: Task) -> bool:
    """Say whether a task has any trial at `smoke`.

    What a compiler makes has no smaller scale, and needs tools that a smoke run does without.
    """
    return any(experiment.params_of("smoke") for experiment in task.reads)


def some_figures(tasks: Sequence[ParameterSet]) -> list[ParameterSet]:
    """Return some of the tasks that have a figure, which nobody picked: the commit draws them."""
    commit = source_state()[0]

    def place(parameter: ParameterSet) -> str:
        return hashlib.sha256(f"{commit} {parameter.id}".encode()).hexdigest()

    drawn = [each for each in tasks if each.values[0].figure is not None]  # type: ignore[attr-defined]
    return sorted(drawn, key=place)[: -(-len(drawn) // FIGURES_ONE_IN)]
