"""How trials are carried out: an executor takes jobs and gives futures."""

from __future__ import annotations

from harness.errors import UsageError, nearest
from harness.executors.job import Executor

EXECUTORS = ("local", "inline")


def make_executor(name: str, num_workers: int) -> Executor:
    """Return an executor by name. Raises UsageError for an unknown one."""
    if name == "local":
        from harness.executors.local import LocalExecutor

        return LocalExecutor(num_workers)
    if name == "inline":
        from harness.executors.inline import InlineExecutor

        return InlineExecutor()
    raise UsageError(
        f"no executor is called {name!r}{nearest(name, EXECUTORS)}"
        f" (there are {', '.join(EXECUTORS)})"
    )
