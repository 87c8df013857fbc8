"""How trials are carried out: an executor takes jobs and gives futures."""

from __future__ import annotations

from harness.errors import UsageError, nearest
from harness.run.executors.job import Executor

EXECUTORS = ("local", "inline")


def make_executor(name: str, num_workers: int) -> Executor:
    """Return an executor by name. Raises UsageError for an unknown one."""
    check_executor(name)
    if name == "inline":
        from harness.run.executors.inline import InlineExecutor

        return InlineExecutor()
    from harness.run.executors.local import LocalExecutor

    return LocalExecutor(num_workers)


def check_executor(name: str) -> None:
    """Raise UsageError, which names the nearest one, unless there is such an executor."""
    if name not in EXECUTORS:
        raise UsageError(
            f"no executor is called {name!r}{nearest(name, EXECUTORS)}"
            f" (there are {', '.join(EXECUTORS)})"
        )
