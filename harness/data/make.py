"""Builds a data set from its upstream's own files by a rule, and keeps it in the local cache.

What is built must have the content that the catalogue knows: else nothing is written, and what
the cache held stays. `made/NAME.suffix` may be copied below a REPRO_DATA folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness import atomic
from harness.data.codec import decode, encode
from harness.data.load import made_place
from harness.data.rules import RULES
from harness.data.rules.files import opened
from harness.data.sources import obtained, parse_source
from harness.errors import DataError, HarnessError
from harness.untrusted import in_one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.data.catalogue import Dataset, Made


def make(dataset: Dataset, made: Made, cache: Path, *, given: Path | None = None) -> Path:
    """Build a data set, write it into the cache and return its path.

    given: a file or folder that is read in place of what the catalogue would download.
    Raises EnvError where a file cannot be downloaded, DataError for one that is missing, damaged,
    of another form, or gives other content, RunError where the cache cannot be written.
    """
    with obtained([parse_source(text) for text in made.files], given) as paths:
        data = build(dataset, made, paths)
    path = cache / made_place(dataset)
    atomic.write_bytes(path, data)
    return path


def build(dataset: Dataset, made: Made, paths: Mapping[str, Path]) -> bytes:
    """Return the file that the rule makes. Raises DataError unless its content is the known one."""
    try:
        with opened(paths) as files:
            data = encode(dataset.kind, RULES[made.rule](files))
        found = decode(dataset.kind, data).sha256
    except HarnessError:
        raise
    except Exception as error:
        # Damaged or foreign files make the readers of many formats raise nearly anything.
        raise DataError(
            f"data set {dataset.name}: rule {made.rule} cannot read {', '.join(paths)}"
            f" ({type(error).__name__}: {in_one_line(error)}): get intact files of"
            f" {dataset.upstream}"
        ) from error
    if found != dataset.sha256:
        raise DataError(
            f"data set {dataset.name}: rule {made.rule} made other content, expected"
            f" {dataset.sha256}, found {found}: nothing was written, compare the files with"
            f" {dataset.upstream}"
        )
    return data
