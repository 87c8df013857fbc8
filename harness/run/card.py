"""Tasks that a GPU alone can run, and what a page says of one that was not run there."""

from __future__ import annotations

from harness.declare.task import Task
from harness.run.trial import trials_behind
from harness.store.workspace import COMMITTED_PROFILES


def needs_card(task: Task) -> bool:
    """Whether of the profiles that are committed a task has trials at `gpu` alone."""
    having = [p for p in COMMITTED_PROFILES if trials_behind([task], p)]
    return having == ["gpu"]


def card_text(task: str) -> str:
    """Say why a task was not run that a GPU alone can run, and which command runs it.

    >>> card_text("lisa/with_kernels")
    'it needs a GPU; on a machine with one `make gpu ONLY=lisa/with_kernels` runs it'
    """
    return f"it needs a GPU; on a machine with one `make gpu ONLY={task}` runs it"
