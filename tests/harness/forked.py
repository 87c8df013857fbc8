"""`repro` in a fork of the test's process: with streams of its own, and without the imports."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tests.harness.conftest import forget_toylab
from tests.harness.toy_paper import ToyPaper

NOWHERE = "nowhere"
"""As HOME: there is none, and no entry of the user that names one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Streams:
    """What stands at the other end of a stream: `file`, `gone` (a pipe without a reader),
    `full` (a full disk) or `closed`."""

    out: str = "file"
    err: str = "file"
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Ended:
    """What a forked `repro` came to."""

    code: int
    out: bytes
    err: str


def forked(toy: ToyPaper, words: tuple[str, ...], streams: Streams, **env: str) -> Ended:
    """Run `repro` on the toy paper in a fork; a signal that ends it is a negative code."""
    files = {number: toy.root / f"stream-{number}" for number in (1, 2)}
    pid = os.fork()
    if pid == 0:
        _in_the_fork(lambda: _prepare(toy, words, streams, files, env))
    _, status = os.waitpid(pid, 0)
    out, err = (path.read_bytes() if path.exists() else b"" for path in files.values())
    for path in files.values():
        path.unlink(missing_ok=True)
    return Ended(os.waitstatus_to_exitcode(status), out, err.decode())


def _in_the_fork(prepare: Callable[[], None]) -> NoReturn:
    """Do what the interpreter does round a program: start it, end it, and flush what is left."""
    code = 99
    try:
        prepare()
        from harness.cli import main

        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:  # noqa: BLE001 - the interpreter prints whatever is raised
            import traceback

            code = 1
            if sys.stderr is not None:
                traceback.print_exc()
        for stream in (sys.stdout, sys.stderr, sys.__stdout__):
            try:
                if stream is not None:
                    stream.flush()
            except OSError:
                code = 120
    finally:
        os._exit(code)


def _prepare(
    toy: ToyPaper,
    words: tuple[str, ...],
    streams: Streams,
    files: Mapping[int, Path],
    env: Mapping[str, str],
) -> None:
    os.environ.update(toy.environment(**env))
    sys.path.insert(0, str(toy.packages))
    sys.argv = ["repro", *words]
    if env.get("HOME") == NOWHERE:
        # The number of a user of a container, who stands in no list.
        del os.environ["HOME"]
        os.getuid = lambda: 54321
    signal.signal(signal.SIGINT, signal.default_int_handler)
    forget_toylab()
    sys.stdout = sys.__stdout__ = _opened(1, streams.out, streams.encoding, files[1], "strict")
    sys.stderr = sys.__stderr__ = _opened(2, streams.err, "utf-8", files[2], "backslashreplace")


def _opened(number: int, kind: str, encoding: str, file: Path, errors: str):  # type: ignore[no-untyped-def]
    """Put a kind of stream in the place of a file descriptor, as the interpreter would find it."""
    if kind == "closed":
        os.close(number)
        return None
    if kind == "gone":
        reader, writer = os.pipe()
        os.close(reader)
    else:
        path = {"full": "/dev/full", "file": str(file)}[kind]
        writer = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.dup2(writer, number)
    os.close(writer)
    return open(number, "w", encoding=encoding, errors=errors, closefd=False)
