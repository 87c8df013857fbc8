"""How much of the machine others took while a benchmark ran."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CLOCK_HZ = os.sysconf("SC_CLK_TCK")
IDLE = (3, 4)
"""Columns of /proc/stat that are no work: idle and waiting for input or output."""


@dataclass
class OtherLoad:
    """Filled in when the watched block ends."""

    cores: float = float("nan")
    """Mean number of cores that processes other than ours and our children kept busy."""


@contextmanager
def watch_others() -> Iterator[OtherLoad]:
    """Watch a block: all busy time of the machine less that of this process and its children.

    Children count when they have ended. Stays NaN where there is no /proc/stat.
    """
    others = OtherLoad()
    start, busy, own = time.perf_counter(), _busy_s(), _own_s()
    yield others
    elapsed = time.perf_counter() - start
    others.cores = max(0.0, (_busy_s() - busy) - (_own_s() - own)) / elapsed


def _busy_s() -> float:
    path = Path("/proc/stat")
    if not path.exists():
        return float("nan")
    # user nice system idle iowait irq softirq steal; guest time is in user already.
    ticks = [int(field) for field in path.read_text(encoding="utf-8").split("\n")[0].split()[1:9]]
    return sum(count for column, count in enumerate(ticks) if column not in IDLE) / CLOCK_HZ


def _own_s() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
