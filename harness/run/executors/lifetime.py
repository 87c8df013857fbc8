"""How a worker process starts and ends. Imports little: it runs before anything else there."""

from __future__ import annotations

import os
import re
import signal
import warnings

from harness.lifetime import die_with
from harness.outgoing import guard_streams

LIBRARY_WARNINGS = (
    # peft asks every model of transformers for it, whatever the model is used for.
    (
        "`is_gradient_checkpointing` is deprecated and will be removed in v6."
        " Use `is_activation_checkpointing` instead.",
        FutureWarning,
    ),
)


def start_worker(runner_pid: int) -> None:
    """Prepare a fresh worker: one thread, deaf to Ctrl-C, gone when its runner is.

    The environment is set before torch is imported: OpenMP reads it once. Without a passive
    wait policy two busy processes can slow each other twenty-fold.
    """
    die_with(runner_pid)
    guard_streams()
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    # The runner decides what an interrupt means; a worker would only die half-way.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        # It was blocked while this process started; a trial's own children must not inherit that.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    silence_libraries()


def silence_libraries() -> None:
    """Hide warnings that one library gives of another: no code of ours can change what they do."""
    for message, category in LIBRARY_WARNINGS:
        warnings.filterwarnings("ignore", re.escape(message) + r"\Z", category)
