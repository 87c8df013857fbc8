"""Cross-entropy of a linear head without its logits: what compilers make of it."""

from __future__ import annotations

from reproductions.kernels.compiled.claims import static_task

task = static_task("linear_cross_entropy", bytes_bound=False)
