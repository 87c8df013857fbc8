"""AdamW of masked weights: what compilers make of it."""

from __future__ import annotations

from reproductions.kernels.compiled.claims import static_task

task = static_task("masked_adamw", bytes_bound=True)
