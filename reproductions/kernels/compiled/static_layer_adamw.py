"""AdamW of active layers, with norms: what compilers make of it."""

from __future__ import annotations

from reproductions.kernels.compiled.claims import static_task

task = static_task("layer_adamw", bytes_bound=True)
