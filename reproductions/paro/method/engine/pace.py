"""Messages that leave no sooner than a link of chosen speed would have carried them.

For ranks whose links nothing else slows. A link is a file that holds when it is free again; ranks
that share the link share the file.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

VARIABLE = "PARO_LINK"
"""In the environment of a rank: its link out of its group, as `Link.told` gives it."""


class Link:
    """A link that carries so many bytes per second, one message after another."""

    def __init__(self, path: str, bytes_per_s: float) -> None:
        self.path, self.bytes_per_s = path, bytes_per_s
        # Opened anew: a lock is between openings, and one that was inherited is the same as theirs.
        self._file = os.open(path, os.O_RDWR)

    def told(self) -> str:
        """Return what another process makes the same link of."""
        return json.dumps([self.path, self.bytes_per_s])

    def carry(self, num_bytes: int) -> float:
        """Return when it has carried so many bytes more, by time.monotonic()."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            stored = os.pread(self._file, 8, 0)
            free_at = struct.unpack("d", stored)[0] if len(stored) == 8 else 0.0
            done_at = max(time.monotonic(), free_at) + num_bytes / self.bytes_per_s
            os.pwrite(self._file, struct.pack("d", done_at), 0)
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        return float(done_at)


class Pace:
    """Runs what sends messages when their link has had the time for them, in order."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="paro-pace")

    def send(self, num_bytes: int, job: Callable[[], None]) -> Future[None]:
        """Take the link's time for a message at once; send it when that is over."""
        done_at = self._link.carry(num_bytes)

        def later() -> None:
            time.sleep(max(0.0, done_at - time.monotonic()))
            job()

        return self._thread.submit(later)


def pace_here() -> Pace | None:
    """Return the pace of messages out of this rank's group; None where nothing asks for one."""
    told = os.environ.get(VARIABLE)
    return Pace(Link(*json.loads(told))) if told else None
