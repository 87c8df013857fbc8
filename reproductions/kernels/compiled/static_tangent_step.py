"""Inner steps together with their tangents: what compilers make of it."""

from __future__ import annotations

from reproductions.kernels.compiled.claims import static_task

task = static_task("tangent_step", bytes_bound=True)
