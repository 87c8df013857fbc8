"""Atomic writes: the old file or the new one, whatever happens in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.atomic import remove_leftovers, write_bytes, write_text
from harness.errors import RunError
from tests.harness.inline_lab import tree
from tests.harness.small_disk import SmallDisk, needs_mount


def test_a_file_is_written_with_its_folders_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.txt"
    write_text(path, "one\ntwo")
    write_bytes(path, b"three")
    assert tree(tmp_path) == {"a/b/c.txt": b"three"}
    assert path.stat().st_mode & 0o777 == 0o644


@needs_mount
def test_a_full_disk_keeps_the_old_file_and_leaves_no_part_of_the_new(
    small_disk: SmallDisk,
) -> None:
    path = small_disk.folder / "result.csv"
    write_bytes(path, b"old")
    with small_disk.filled(), pytest.raises(RunError, match=r"disk is full while writing .*result"):
        write_bytes(path, b"new" * 50_000)
    assert tree(small_disk.folder) == {"result.csv": b"old"}
    write_bytes(path, b"new" * 50_000)
    assert path.read_bytes() == b"new" * 50_000


def test_an_interrupt_keeps_the_old_file_and_leaves_no_part_of_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    write_bytes(tmp_path / "a.txt", b"old")
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "a.txt", b"new")
    assert tree(tmp_path) == {"a.txt": b"old"}


def writer_killed_amid(path: Path) -> None:
    """Have a writer that is killed when its temporary file is written."""
    code = (
        "import os, sys; from pathlib import Path; from harness import atomic\n"
        f"os.fsync = lambda handle: os.kill(os.getpid(), {int(signal.SIGKILL)})\n"
        "atomic.write_bytes(Path(sys.argv[1]), b'half')"
    )
    subprocess.run([sys.executable, "-c", code, str(path)])


def test_what_a_killed_writer_left_anywhere_below_is_removed_when_it_is_old(tmp_path: Path) -> None:
    writer_killed_amid(tmp_path / "a" / "b" / "c.txt")
    remove_leftovers(tmp_path)
    (left,) = (tmp_path / name for name in tree(tmp_path))
    os.utime(left, (0, 0))
    remove_leftovers(tmp_path)
    assert tree(tmp_path) == {}
