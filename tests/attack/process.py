"""Run `repro` in a fork of this process, under limits: a hundred starts cost what one does.

The parent has imported what every verb imports, and runs nothing itself; what an attack changes
before the start of Python (streams, encodings, variables) the child sets up by hand.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import select
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.attack import hook
from tests.attack.case import CPU_LIMIT_S, TIME_LIMIT_S, Case, Seen, Streams
from tests.harness.processes import is_alive

MEMORY_BYTES = 3 * 2**30
"""What a command may take beyond what the parent has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """When a command is stopped from outside, or dies by itself."""

    spec: str = ""
    """What `hook` reads: the call to die at; else the time counts."""
    seconds: float = 0.0
    signal: signal.Signals = signal.SIGKILL
    group: bool = False
    """Whether the whole process group is meant, as by a terminal."""


def warm_up() -> None:
    """Import what the verbs import, and read the declarations and the code of all papers."""
    import harness.cli
    import harness.publish.figures
    import harness.publish.report.load
    import harness.publish.report.write
    import harness.run.runner  # noqa: F401
    from harness.commands.app import VERBS
    from harness.registry import load_registry
    from harness.run.awaited import awaited_by
    from harness.store.code import experiment_code

    for place in VERBS.values():
        import_module(f"harness.commands.{place.partition(':')[0]}")
    library = load_registry()
    for experiment in library.experiments.values():
        experiment_code(experiment)
    for task in library.tasks.values():
        awaited_by(task)


def observe(
    case: Case, *, root: Path, packages: Path, scratch: Path, stop: Stop | None = None
) -> Seen:
    """Run a case's command to its end, and kill it and what it started where it has none.

    root: the checkout; packages: a folder with the paper's package; scratch: for the streams.
    """
    out, err = scratch / "stdout", scratch / "stderr"
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        ended = 70
        try:
            ended = _in_child(case, root, packages, out, err)
        finally:
            os._exit(ended)
    if stop is not None and not stop.spec:
        _send(child, stop)
    code = _wait(child)
    left = [pid for pid in _session(child) if is_alive(pid)]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    texts = [
        path.read_bytes().decode(errors="replace") if path.exists() else "" for path in (out, err)
    ]
    return Seen(code=code, out=texts[0], err=texts[1], left=len(left))


def _send(child: int, stop: Stop) -> None:
    time.sleep(stop.seconds)
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if stop.group else os.kill)(child, stop.signal)


def _wait(child: int) -> int | None:
    """Return a child's exit code, None where its time ran out, on the clock or of the CPU."""
    handle = os.pidfd_open(child)
    try:
        is_over = bool(select.select([handle], [], [], TIME_LIMIT_S)[0])
    finally:
        os.close(handle)
    if not is_over:
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if is_over and code != -signal.SIGXCPU else None


def _session(leader: int) -> list[int]:
    """Return the processes of a session, without its leader; they get a moment to end."""
    found: list[int] = []
    for _ in range(20):
        found = [
            int(folder.name)
            for folder in Path("/proc").iterdir()
            if folder.name.isdigit()
            and int(folder.name) != leader
            and _session_of(folder) == leader
        ]
        if not any(map(is_alive, found)):
            return []
        time.sleep(0.05)
    return found


def _session_of(folder: Path) -> int:
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[3])
    except OSError:
        return -1


def _in_child(case: Case, root: Path, packages: Path, out: Path, err: Path) -> int:
    """Become the command: its limits, streams, variables; return its exit code."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, resource.RLIM_INFINITY))
    os.environ.update(REPRO_ROOT=str(root), PYTHONPATH=f"{packages}:{os.environ['PYTHONPATH']}")
    for name, value in case.env.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    os.chdir(root)
    sys.path.insert(0, str(packages))
    sys.argv = ["repro", *case.words]
    _set_streams(case.streams, case.encoding, out, err)
    hook.install("runner")  # forked from a process that looks like a worker
    return _main()


def _main() -> int:
    from harness.cli import main

    code = 0
    try:
        main()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - what gets here is what a user would see
        if sys.stderr is not None:
            traceback.print_exc()
        else:  # the test must see what nobody else would
            os.write(2, b"Traceback (most recent call last)")
        code = 1
    return _flushed(code)


def _flushed(code: int) -> int:
    """Flush as the interpreter does at its end, where a stream that fails makes the code 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            return 120
    return code


def _set_streams(streams: Streams, encoding: str, out: Path, err: Path) -> None:
    """Open what the command writes to, as a shell would have."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(
        os.open("/dev/full", os.O_WRONLY) if streams == "full stdout" else os.open(out, flags), 1
    )
    os.dup2(
        os.open("/dev/full", os.O_WRONLY) if streams == "full stderr" else os.open(err, flags), 2
    )
    if streams == "pipe":  # its reader has gone
        reader, writer = os.pipe()
        os.dup2(writer, 1)
        os.close(reader)
        os.close(writer)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, "r"))
    sys.stdout = _text(1, encoding, "strict")
    sys.stderr = _text(2, encoding, "backslashreplace")
    if streams == "closed stdout":
        os.close(1)
        sys.stdout = None
    elif streams == "closed stderr":
        os.close(2)
        sys.stderr = None
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]


def _text(handle: int, encoding: str, errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(handle, "w", closefd=False)),
        encoding=encoding,
        errors=errors,
        line_buffering=handle == 2,
    )
