"""A user's script on every rank of a testbed, as torchrun would run it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.errors import RunError, UsageError
from reproductions.paro.method.cluster import Cluster
from reproductions.paro.method.testbed.launch import Crew
from reproductions.paro.method.testbed.network import lay


def run_script(words: Sequence[str], cluster: Cluster, *, deadline_s: float) -> None:
    """Run a script with its arguments on every rank, and wait for all.

    To be called in a process of its own with one thread. words: as Python takes them, `-m module`
    too. Raises UsageError for a script that is not there, RunError where a rank fails.
    """
    if words[0] != "-m" and not Path(words[0]).is_file():
        raise UsageError(f"script {words[0]}: no such file: name one, after `--`")
    network = lay(cluster)
    if network.why:
        sys.stderr.write(
            "testbed: messages of PaRO's own rings alone are slowed, by a token bucket:"
            f" {network.why}\n"
        )
    crew = Crew(network)
    crew.start(lambda: os.execv(sys.executable, [sys.executable, *words]))
    if failed := crew.wait(deadline_s):
        raise RunError(f"{' '.join(words[: 1 + (words[0] == '-m')])}: {failed}")
