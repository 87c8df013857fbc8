"""What is said of a task that was not run: that, and the paper's values alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.task import Task
from harness.errors import UsageError
from harness.registry import Library

if TYPE_CHECKING:  # what it imports would slow every verb down
    from harness.publish.report.paper_table import TableFormat


class NoResultError(UsageError):
    """A task has no stored result of what was asked for."""

    def __init__(self, message: str, library: Library, task: Task) -> None:
        super().__init__(message)
        self.library, self.task = library, task

    def paper_alone(self, fmt: TableFormat) -> str:
        """Return the table with the paper's values alone; empty where there are none."""
        return paper_alone(self.library, self.task, fmt)


def paper_alone(library: Library, task: Task, fmt: TableFormat) -> str:
    """Return a task's table with the paper's values alone; empty where there are none."""
    from harness.publish.refresh import reference_of
    from harness.publish.report.paper_table import paper_alone_as

    reference = reference_of(library, task)
    return paper_alone_as(fmt, task, reference, title=library.titles[task.id])
