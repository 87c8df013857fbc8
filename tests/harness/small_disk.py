"""A real file system that is really full: a tmpfs of one megabyte."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

SIZE = "size=1m"


@dataclass(frozen=True, slots=True)
class SmallDisk:
    """Where it is mounted."""

    folder: Path

    @contextmanager
    def filled(self, *, spare_bytes: int = 0) -> Iterator[None]:
        """Leave room for nothing, or for `spare_bytes`."""
        ballast, free = self.folder / "ballast", os.statvfs(self.folder)
        with ballast.open("wb", buffering=0) as stream:
            stream.write(b"\0" * max(0, free.f_bavail * free.f_frsize - spare_bytes))
        try:
            yield
        finally:
            ballast.unlink()


@contextmanager
def mounted(folder: Path) -> Iterator[SmallDisk]:
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", SIZE, "tmpfs", str(folder)], check=True)
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@cache
def can_mount() -> bool:
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    with TemporaryDirectory() as folder:
        command = ["mount", "-t", "tmpfs", "-o", SIZE, "tmpfs", folder]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return False
        subprocess.run(["umount", folder], check=True)
    return True


needs_mount = pytest.mark.skipif(not can_mount(), reason="mounting a small tmpfs needs root")
