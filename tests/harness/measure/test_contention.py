"""The watch over others, with work that is ours and work that is not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.measure.contention import OthersWatch

pytestmark = [
    pytest.mark.timing,
    pytest.mark.skipif(not Path("/proc/stat").exists(), reason="only Linux tells"),
]
SPIN = "import time\nend = time.perf_counter() + {seconds}\nwhile time.perf_counter() < end: pass"


def spin(seconds: float) -> float:
    """Keep this process busy; return the core-seconds it really got."""
    before = time.process_time()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return time.process_time() - before


@pytest.fixture
def stranger() -> Iterator[None]:
    """A busy process that is no child that has ended: to the watch it is another's."""
    process = subprocess.Popen([sys.executable, "-c", SPIN.format(seconds=60)])
    time.sleep(0.2)
    yield
    process.kill()
    process.wait()


def test_our_own_work_is_not_anothers() -> None:
    start = time.perf_counter()
    watch = OthersWatch()
    ours = spin(0.8)
    subprocess.run([sys.executable, "-c", SPIN.format(seconds=0.4)], check=True)
    elapsed = time.perf_counter() - start
    cores = watch.cores()
    # Whatever else runs, others cannot have what we got; the slack is that of the ticks.
    assert cores is not None
    assert cores <= (os.cpu_count() or 1) - ours / elapsed + 0.1


@pytest.mark.usefixtures("stranger")
def test_a_busy_stranger_is_seen() -> None:
    watch = OthersWatch()
    time.sleep(1.0)
    cores = watch.cores()
    # On a crowded machine the stranger's place may be taken, but by others too.
    assert cores is not None and cores > 0.4
