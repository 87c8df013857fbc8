"""Copies data sets into a folder for a machine without network."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness import atomic
from harness.data.hub import pin_place
from harness.data.load import find, located, read
from harness.errors import UsageError
from harness.untrusted import MAX_DATA_BYTES, read_bytes


@dataclass(frozen=True, slots=True)
class Packed:
    """One data set as `pack` treated it."""

    name: str
    variant: str
    path: str
    """Below the folder; empty for bundled data, which needs no file."""
    bytes: int
    sha256: str
    """Over the decoded content."""


def pack(names: Iterable[str], out: Path) -> list[Packed]:
    """Copy data sets into `out`, a new or empty folder, in the layout of REPRO_DATA.

    Raises UsageError if `out` holds anything already; DataError as `datasets.load`; RunError where
    it cannot be written. After an error nothing is there.
    """
    _must_be_new(out)
    try:
        return [_packed(name, out) for name in names]
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise


def _packed(name: str, out: Path) -> Packed:
    dataset = find(name)
    if dataset.bundled:
        return Packed(name, "bundled", "", 0, dataset.sha256)
    source = located(dataset)
    read(dataset, source)
    data = read_bytes(source.path, limit=MAX_DATA_BYTES)
    atomic.write_bytes(out / source.place, data)
    if source.variant == "hub":
        # The catalogue may not know it.
        atomic.write_text(out / pin_place(dataset), source.sha256 + "\n")
    return Packed(name, source.variant, source.place, len(data), source.sha256)


def _must_be_new(out: Path) -> None:
    """Raise UsageError unless a folder can be made, or is there and empty."""
    try:
        if any(out.iterdir()):
            raise UsageError(f"{out} is not empty: name a new folder, nothing is overwritten")
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{out} cannot be used ({error.strerror}): name a new folder") from error
