"""How trials are carried out: an executor takes jobs and gives futures."""

from __future__ import annotations

from harness.run.executors.job import Executor

EXECUTORS = ("local", "inline")


def make_executor(name: str, num_workers: int) -> Executor:
    """Return an executor by name."""
    if name == "inline":
        from harness.run.executors.inline import InlineExecutor

        return InlineExecutor()
    from harness.run.executors.local import LocalExecutor

    return LocalExecutor(num_workers)
