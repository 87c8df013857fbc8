"""How much of the machine others took while something was measured.

A load average lags by a minute and counts ourselves; this does neither.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

IDLE = (3, 4)
"""Columns of /proc/stat that are no work: idle, and waiting for input or output."""


class OthersWatch:
    """Measures from its creation on what others than this process and its children did."""

    def __init__(self) -> None:
        self._start, self._busy, self._own = time.perf_counter(), _busy_s(), _own_s()

    def cores(self) -> float | None:
        """Return the mean number of cores that others kept busy; None without /proc/stat.

        Time stolen by the host counts as others'. Children count as ours when they have
        ended: ask when none is running.
        """
        busy = _busy_s()
        if busy is None or self._busy is None:
            return None
        elapsed = max(time.perf_counter() - self._start, 1e-9)
        # Ticks are coarse: a short span may come out slightly negative.
        return round(max(0.0, (busy - self._busy) - (_own_s() - self._own)) / elapsed, 2)


def _busy_s() -> float | None:
    path = Path("/proc/stat")
    if not path.exists():
        return None
    # user nice system idle iowait irq softirq steal; guest time is within user already.
    ticks = [int(field) for field in path.read_text(encoding="utf-8").split("\n")[0].split()[1:9]]
    busy = sum(count for column, count in enumerate(ticks) if column not in IDLE)
    return busy / os.sysconf("SC_CLK_TCK")


def _own_s() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
