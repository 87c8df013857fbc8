"""Fresh processes as forks of one that has imported torch: the import is most of what they take.

Who asks what ranks do asks nothing of how their process starts: the smoke run starts each kind of
them as users do. This module is what starts the process that is forked, and that process.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

from harness.lifetime import die_with
from harness.measure import fresh_process

IMPORTED = (
    "pytest",
    "reproductions.paro.held.ranks",
    "reproductions.paro.method.engine",
    "reproductions.paro.models.gloo_ranks",
)
"""What most of those import that are asked for."""
INTERPRET = "TRITON_INTERPRET"
fresh = fresh_process.serve_fresh


class Warm:
    """Serves calls as `serve_fresh` does, in forks of a process that starts with the first."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def serve(self, where: str, given: str, timeout_s: float) -> subprocess.CompletedProcess[str]:
        """Serve a call in a fork. Raises TimeoutExpired."""
        if threading.current_thread() is not threading.main_thread():
            # It would end with that thread, and can serve one call at a time.
            return fresh(where, given, timeout_s)
        if self._line is None:
            self._line = self._start()
        told = {"where": where, "env": dict(os.environ), "path": sys.path, "cwd": str(Path.cwd())}
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(4)]
            for file, text in zip(files, (given, "", "", json.dumps(told)), strict=True):
                file.write(text)
                file.seek(0)
            socket.send_fds(self._line, [b"?"], [file.fileno() for file in files])
            self._line.settimeout(timeout_s)
            try:
                code = int(self._line.recv(64))
            except TimeoutError:
                # What it forked ends with it.
                self.close()
                raise subprocess.TimeoutExpired(where, timeout_s) from None
            for file in files:
                file.seek(0)
            return subprocess.CompletedProcess(where, code, files[1].read(), files[2].read())

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Have it serve what asks for a fresh process meanwhile."""
        with mock.patch.object(fresh_process, "serve_fresh", self.serve):
            yield

    def close(self) -> None:
        """End the process; the next call starts another one."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.terminate()
            self._process.wait()
            self._line = None

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm", str(os.getpid())],
                stdin=theirs.fileno(),
                # One thread: no fork of it finds a lock that nobody will open. And no interpreter
                # of Triton's: whoever imports that compiles, or not, as it was then.
                env={
                    **{name: value for name, value in os.environ.items() if name != INTERPRET},
                    "OMP_NUM_THREADS": "1",
                    "PYTHONPATH": os.pathsep.join(sys.path),
                },
            )
        return ours


def _main(caller_pid: int) -> None:
    """Fork for each question that comes in at stdin, until its other end is closed."""
    die_with(caller_pid)
    gc.disable()
    for name in IMPORTED:
        importlib.import_module(name)
    gc.enable()
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=0) as line:
        while files := socket.recv_fds(line, 1, 4)[1]:
            pid = os.fork()
            if not pid:
                _serve(files)
            line.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
            for file in files:
                os.close(file)


def _serve(files: list[int]) -> NoReturn:
    """Do in a fork what the fresh process would."""
    code = 1
    try:
        told: dict[str, Any] = json.loads(os.fdopen(files.pop()).read())
        os.environ.clear()
        os.environ.update(told["env"])
        os.chdir(told["cwd"])
        sys.path[:] = told["path"]
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w", 1)
        sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
        fresh_process.serve(told["where"], os.getppid())
        sys.stdout.flush()
        code = 0
    except BaseException:  # noqa: BLE001 - the interpreter prints whatever is raised
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
