"""Standard streams that may be closed, full, without a reader, or of a narrow encoding."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from harness.errors import RunError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDIN, STDOUT, STDERR = 0, 1, 2


class ReaderGone(Exception):
    """Nobody reads our results any more."""


class _Results(io.FileIO):
    """Standard output: what cannot be written is an error, told once."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            # What is still in a buffer must not fail again when the interpreter ends.
            _put(os.O_WRONLY, STDOUT)
            if isinstance(error, BrokenPipeError):
                raise ReaderGone from None
            raise RunError(
                f"the results cannot be written to stdout ({error.strerror}): send them elsewhere"
            ) from None


class _Messages(io.FileIO):
    """Standard error: a message that cannot be written is lost, and nothing ends for it."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def mend_streams() -> None:
    """Make standard streams safe to write to; leave those alone that a caller has replaced.

    The place of a closed one is taken: a file that is opened later would get its number, and
    whatever is written to the stream. Writing results to a closed stdout stays an error.
    """
    for number, flags in ((STDIN, os.O_RDONLY), (STDOUT, os.O_RDONLY), (STDERR, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            _put(flags, number)
    if sys.stdout is sys.__stdout__:
        sys.stdout = _text(_Results(STDOUT, "w", closefd=False), sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(_Messages(STDERR, "w", closefd=False), sys.stderr)


def _put(flags: int, number: int) -> None:
    """Put the null device in the place of a descriptor, for this process and its children."""
    null = os.open(os.devnull, flags)
    if null == number:
        os.set_inheritable(null, True)
    else:
        os.dup2(null, number)
        os.close(null)


def _text(raw: io.FileIO, old: TextIO | None) -> TextIO:
    """Return a text stream; a letter that its encoding lacks is written by its number."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=old.encoding if old else "utf-8",
        errors="backslashreplace",
        line_buffering=raw.fileno() == STDERR or raw.isatty(),
    )
