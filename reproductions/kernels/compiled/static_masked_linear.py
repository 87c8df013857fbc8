"""A linear map of masked weights: what compilers make of it."""

from __future__ import annotations

from reproductions.kernels.compiled.claims import static_task

task = static_task("masked_linear", bytes_bound=False)
