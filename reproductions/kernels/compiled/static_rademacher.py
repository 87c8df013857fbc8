"""Sums of random directions that are never stored: what compilers make of it."""

from __future__ import annotations

from reproductions.kernels.compiled.claims import static_task

task = static_task("rademacher", bytes_bound=True)
