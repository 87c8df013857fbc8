"""`repro` in a fork of the test's process: with streams of its own, and without the imports."""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from types import ModuleType
from typing import NoReturn, TextIO

from harness.cli import main
from harness.store.trial import cached_grid
from tests.harness.conftest import forget_toylab
from tests.harness.toy_paper import ToyPaper


@dataclass(frozen=True, kw_only=True, slots=True)
class Streams:
    """What stands at the other end of a stream: `file`, `gone` (a pipe without a reader),
    `full` (a full disk) or `closed`."""

    out: str = "file"
    err: str = "file"


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


def start(toy: ToyPaper, *words: str, **env: str) -> subprocess.Popen[str]:
    """Start `repro` in a fork, as `toy.start` does in a fresh process, which costs it the imports.

    From the interpreter's start on it is the same: a process group of its own, workers that are
    spawned, the signals of a program that a shell starts.
    """
    return subprocess.Popen(
        ["repro", *words],
        # Never comes back, so that nothing is executed in its place.
        preexec_fn=lambda: _in_the_fork(lambda: _become_program(toy, words, env)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(toy: ToyPaper, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `repro` in a fork to its end, as `toy.repro` does in a fresh process."""
    return subprocess.run(
        ["repro", *words],
        preexec_fn=lambda: _in_the_fork(lambda: _become_program(toy, words, env)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _become_program(toy: ToyPaper, words: tuple[str, ...], env: Mapping[str, str]) -> None:
    _forget_the_test()
    _enter(toy, words, env)


def _forget_the_test() -> None:
    """Forget what a fresh process would not have of the test's."""
    faulthandler.disable()
    # Popen waits for the end of one of these, which tells it that a program was executed.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    logging.root.handlers.clear()
    # Workers import the main module of their runner, and it has a tracker of its own for them.
    sys.modules["__main__"] = ModuleType("__main__")
    resource_tracker._resource_tracker._fd = None
    tempfile.tempdir = None
    sys.stdout = sys.__stdout__ = _text(1, "strict")
    sys.stderr = sys.__stderr__ = _text(2, "backslashreplace")


def _in_the_fork(prepare: Callable[[], None], main: Callable[[], None] = main) -> NoReturn:
    """Do what the interpreter does round a program: start it, end it, and flush what is left."""
    code = 99
    try:
        prepare()
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
    _enter(toy, words, env)
    sys.stdout = sys.__stdout__ = _opened(1, streams.out, files[1], "strict")
    sys.stderr = sys.__stderr__ = _opened(2, streams.err, files[2], "backslashreplace")


def _enter(toy: ToyPaper, words: tuple[str, ...], env: Mapping[str, str]) -> None:
    """Set what a command finds: its words, the paper's package, variables, Python's own Ctrl-C."""
    os.environ.update(toy.environment(**env))
    sys.path.insert(0, str(toy.packages))
    sys.argv = ["repro", *words]
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGINT, signal.default_int_handler)
    forget_toylab()
    cached_grid.cache_clear()


def _opened(number: int, kind: str, file: Path, errors: str):  # type: ignore[no-untyped-def]
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
    return _text(number, errors)


def _text(number: int, errors: str) -> TextIO:
    buffering = 1 if number == 2 else -1
    return open(number, "w", buffering, encoding="utf-8", errors=errors, closefd=False)
