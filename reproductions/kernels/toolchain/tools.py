"""Compilers for GPUs and hosts, and what reads their output: no GPU is asked for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from harness.errors import EnvError, RunError

TIMEOUT_S = 300.0


@cache
def tool(name: str) -> str:
    """Return where a tool lies: of CUDA in a wheel first, else on the path. Raises EnvError."""
    try:
        from cuda.pathfinder import SUPPORTED_BINARY_UTILITIES, find_nvidia_binary_utility
    except ImportError:
        found = None
    else:
        known = name in SUPPORTED_BINARY_UTILITIES
        found = find_nvidia_binary_utility(name) if known else None
    found = found or shutil.which(name)
    if found is None:
        raise EnvError(f'{name} is not installed: pip install "[kernels]" of this project has it')
    return str(found)


@cache
def version(name: str) -> str:
    """Return the number of a tool's release."""
    told = run([tool(name), "--version"])
    match = re.search(r"V([0-9.]+)", told)
    if match is None:
        raise EnvError(f"{name} --version says nothing like V13.0.88: {told[-200:]!r}")
    return match[1]


def run(command: Sequence[str], **environment: str) -> str:
    """Run a tool and return what it prints. Raises RunError by the tool's own words."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
        env={**os.environ, **environment},
    )  # fmt: skip
    if done.returncode:
        called = " ".join([Path(command[0]).name, *command[1:3]])
        raise RunError(f"{called} ... ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout
