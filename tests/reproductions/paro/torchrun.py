"""Scripts on two ranks that torchrun starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.checkout import ROOT

RUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")


def under_torchrun(folder: Path, script: str, *words: str) -> None:
    """Run a script of a folder there, and see it succeed."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        [sys.executable, *RUN, script, *words],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
