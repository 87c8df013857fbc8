"""Every number of the reference that stands for no claim has a cell of a printed table."""

from __future__ import annotations

import pytest

from harness.declare.reference import load_reference
from harness.declare.task import Task
from harness.publish.report.printed import print_tables
from reproductions.paro.predictions import headline, tab15
from reproductions.paro.ring_times import fig05
from tests.checkout import PAPERS
from tests.reproductions.paro.tables import table_of

TASKS = (headline.task, tab15.task, fig05.task)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.word)
def test_every_quoted_number_stands_in_a_cell(task: Task) -> None:
    reference = load_reference(PAPERS / "paro", task.word)
    assert print_tables(task, table_of(task), reference).others == ()
