"""FedSign's penalty with its gradient: what compilers make of it."""

from __future__ import annotations

from reproductions.kernels.compiled.claims import static_task

task = static_task("sign_ops", bytes_bound=True)
