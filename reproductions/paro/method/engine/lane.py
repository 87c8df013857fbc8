"""Collectives beside computation: one after another, in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol


class Lane(Protocol):
    """Runs jobs in order. Ranks that ask alike have the same collectives in the same order."""

    is_beside: bool
    """Whether what starts a job early gains by it."""

    def start(self, job: Callable[[], None]) -> Future[None]:
        """Queue a job; what it raises is raised by the result."""


class Beside:
    """In a thread of its own, which waits for messages while the passes compute."""

    is_beside = True

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="paro")

    def start(self, job: Callable[[], None]) -> Future[None]:
        """See `Lane`."""
        return self._thread.submit(job)


class AtOnce:
    """Before anything else goes on."""

    is_beside = False

    def start(self, job: Callable[[], None]) -> Future[None]:
        """See `Lane`."""
        done: Future[None] = Future()
        job()
        done.set_result(None)
        return done
