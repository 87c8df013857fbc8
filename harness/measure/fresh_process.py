"""A function in a fresh process: nothing cached, nothing warm, no memory of others."""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from harness.errors import RunError, SpecError
from harness.lifetime import die_with
from harness.outgoing import guard_streams


def call_fresh(
    function: Callable[..., object], params: Mapping[str, Any], *, timeout_s: float = 600.0
) -> Any:
    """Call `function(**params)` in a fresh process and return what it does.

    function: at module level, so that the other process can import it; its parameters and its
    result are JSON values. What it prints goes to this process' error message.
    Raises SpecError if it cannot be imported by name, RunError if the process fails. The process
    ends with this one, however this one ends.
    """
    check_importable(function)
    where = f"{function.__module__}:{function.__qualname__}"
    try:
        done = serve_fresh(where, json.dumps(dict(params)), timeout_s)
    except subprocess.TimeoutExpired as error:
        raise RunError(
            f"{where} in a fresh process took over {timeout_s:g} s: shorten it"
        ) from error
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise RunError(f"{where} in a fresh process failed ({last[0]}): run the function alone")
    return json.loads(done.stdout)


def serve_fresh(where: str, given: str, timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Have a fresh process serve a call, and wait for it. Raises TimeoutExpired."""
    # A subprocess and not multiprocessing: workers of a pool may have no children there.
    return subprocess.run(
        [sys.executable, "-m", "harness.measure.fresh_process", where, str(os.getpid())],
        input=given,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def check_importable(function: Callable[..., object]) -> None:
    """Raise SpecError for a function that another process cannot import by its name."""
    if "<" in function.__qualname__ or function.__module__ == "__main__":
        raise SpecError(f"{function.__qualname__} in a fresh process: need a function of a module")


def function_at(where: str) -> Any:
    """Return the function that `module:name` names."""
    return pkgutil.resolve_name(where)


def serve(where: str, caller_pid: int) -> None:
    """Serve `call_fresh` in its process: parameters on stdin, the result on stdout."""
    die_with(caller_pid)
    guard_streams()
    params = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        result = function_at(where)(**params)
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
