"""Upstream files as a rule reads them: by name, those inside an archive too, nothing unpacked."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from harness.errors import DataError
from harness.untrusted import MAX_DATA_BYTES, in_one_line, read_bytes

ZIPS = (".zip", ".whl")
TARS = (".tar.gz", ".tgz")


class Files(Mapping[str, bytes]):
    """What each name holds; a member of an archive goes by its path in there, read when asked.

    A member too large to be data is passed over.
    """

    def __init__(self, readers: Mapping[str, Callable[[], bytes]]) -> None:
        self._readers = dict(readers)

    def __getitem__(self, name: str) -> bytes:
        return self._readers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def only(self) -> bytes:
        """Return the content of a single file. Raises ValueError unless there is one."""
        (name,) = self
        return self[name]

    def one(self, pattern: str) -> bytes:
        """Return the content of the file that a shell pattern names. Raises ValueError."""
        names = self.matching(pattern)
        if len(names) != 1:
            raise ValueError(f"{len(names)} files are called {pattern}")
        return self[names[0]]

    def matching(self, pattern: str) -> list[str]:
        """Return the names of a shell pattern, sorted; a star matches slashes too."""
        return sorted(name for name in self if fnmatchcase(name, pattern))


@contextmanager
def opened(paths: Mapping[str, Path]) -> Iterator[Files]:
    """Give the files by the names that the catalogue has for them.

    Raises DataError for an archive that cannot be opened.
    """
    readers: dict[str, Callable[[], bytes]] = {}
    with ExitStack() as ends:
        for name, path in paths.items():
            try:
                if name.endswith(ZIPS):
                    readers |= _zip(ends.enter_context(zipfile.ZipFile(path)))
                elif name.endswith(TARS):
                    readers |= _tar(ends.enter_context(tarfile.open(path)))
                else:
                    readers[name] = partial(read_bytes, path, limit=MAX_DATA_BYTES)
            # A damaged archive makes them raise errors of many types, zlib's among them.
            except Exception as error:
                raise DataError(
                    f"{path} is no archive that can be read"
                    f" ({type(error).__name__}: {in_one_line(error)}): get it again"
                ) from error
        yield Files(readers)


def _zip(archive: zipfile.ZipFile) -> dict[str, Callable[[], bytes]]:
    members = [m for m in archive.infolist() if not m.is_dir() and m.file_size <= MAX_DATA_BYTES]
    return {member.filename: partial(archive.read, member) for member in members}


def _tar(archive: tarfile.TarFile) -> dict[str, Callable[[], bytes]]:
    members = [m for m in archive.getmembers() if m.isfile() and m.size <= MAX_DATA_BYTES]

    def read(member: tarfile.TarInfo) -> bytes:
        stream = archive.extractfile(member)
        assert stream is not None  # as it is a file
        return stream.read()

    return {member.name: partial(read, member) for member in members}
