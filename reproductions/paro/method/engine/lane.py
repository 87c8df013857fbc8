"""Collectives beside computation: one after another, in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Lane:
    """Runs jobs in order. Ranks that ask alike have the same collectives in the same order.

    is_beside: in a thread of its own, which waits for messages while the passes compute, so that
    what starts a job early gains by it; else before anything else goes on.
    """

    def __init__(self, *, is_beside: bool) -> None:
        self.is_beside = is_beside
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="paro")

    def start(self, job: Callable[[], None]) -> Future[None]:
        """Queue a job; what it raises is raised here, or by the result."""
        done = self._thread.submit(job) if self.is_beside else Future[None]()
        if not self.is_beside:
            job()
            done.set_result(None)
        return done
