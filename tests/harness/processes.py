"""Processes below another one, and whether they are gone."""

from __future__ import annotations

from pathlib import Path

from tests.waiting import GUARD_S, wait_for


def descendants(pid: int) -> list[int]:
    """Return the processes below one, from /proc."""
    found: list[int] = []
    pending = [pid]
    while pending:
        for listing in Path(f"/proc/{pending.pop()}/task").glob("*/children"):
            try:
                children = [int(word) for word in listing.read_text().split()]
            except OSError:
                continue
            found += children
            pending += children
    return found


def assert_gone(pids: list[int], *, within_s: float = GUARD_S) -> None:
    """Wait for processes to end, and name those that do not."""
    try:
        wait_for(lambda: not any(map(is_alive, pids)), within_s=within_s)
    except TimeoutError:
        left = [pid for pid in pids if is_alive(pid)]
        names = [Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in left]
        assert not left, f"{names} outlived their runner by {within_s} s"


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that nobody has waited for does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
