"""A task's stored table with what is made of it: the printed table, the figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from harness.declare.overrides import Overrides
from harness.declare.profiles import Profile
from harness.declare.reference import load_reference
from harness.declare.task import Task
from harness.errors import UsageError
from harness.registry import Library
from harness.run.awaited import awaited_by, awaited_text, run_command
from harness.store.result import TaskResult, load_result
from harness.store.workspace import Workspace

if TYPE_CHECKING:  # matplotlib is for figures alone
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.figures import Format
    from harness.publish.looks import Options
    from harness.publish.report.paper_table import TableFormat


def reference_of(library: Library, task: Task) -> pd.DataFrame:
    """Return the paper's reference rows for a task, as a frame."""
    return load_reference(library.papers[task.paper].folder, task.word)


class NoResultError(UsageError):
    """A task has no stored result of what was asked for."""

    def __init__(self, message: str, library: Library, task: Task) -> None:
        super().__init__(message)
        self.library, self.task = library, task

    def paper_alone(self, fmt: TableFormat, *, long: bool) -> str:
        """Return the table with the paper's values alone; raise this where none can be printed.

        long: a line per row of ours is asked for, of which the paper has none.
        """
        from harness.publish.report.paper_table import paper_alone_as

        reference, title = reference_of(self.library, self.task), self.library.titles[self.task.id]
        text = "" if long else paper_alone_as(fmt, self.task, reference, title=title)
        if not text:
            raise self
        return text


@dataclass(frozen=True, slots=True)
class Stored:
    """A task's stored table, and what it is of."""

    library: Library
    task: Task
    profile: Profile
    overrides: Overrides
    result: TaskResult

    def printed(self, fmt: TableFormat, *, long: bool = False) -> str:
        """Return it as the paper prints it; long: a line per row, seeds aggregated."""
        from harness.publish.report.paper_table import table_as

        title = self.library.titles[self.task.id]
        return table_as(fmt, self.task, title=title, long=long, **self._shown())

    def figure(self, **look: Unpack[Options]) -> Figure:
        """Return its figure as matplotlib's own. Raises SpecError for a task without one."""
        from harness.publish.figures import figure_of

        return figure_of(self.task, **self._shown(), **look)

    def image(self, fmt: Format, **look: Unpack[Options]) -> bytes:
        """Return its figure as a file holds it."""
        from harness.publish.figures import draw

        return draw(self.task, fmt=fmt, **self._shown(), **look)

    def _shown(self) -> dict[str, Any]:
        return {
            "table": self.result.table,
            "reference": reference_of(self.library, self.task),
            "profile": self.profile,
            "stands_in": self.result.meta.stands_in,
            "aside": self.overrides.label,
        }


def find_stored(
    library: Library, workspace: Workspace, task: Task, profiles: Sequence[Profile]
) -> Stored:
    """Return what is stored of a task at the first of some profiles that has it.

    Raises NoResultError, which says what runs the task, and DataError for what is damaged.
    """
    overrides = workspace.overrides
    for profile in profiles:
        if (result := load_result(workspace, task, profile)) is not None:
            return Stored(library, task, profile, overrides, result)
    where = f" at {profiles[0]}" if len(profiles) == 1 else ""
    whose = f" of the {overrides.label}" if overrides else ""
    makes = "" if overrides else awaited_text(task.id, awaited_by(task))
    makes = makes or f"`{run_command(task, profiles[0], overrides)}` makes one"
    raise NoResultError(f"{task.id} has no result{where}{whose}: {makes}", library, task)
