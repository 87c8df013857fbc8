"""Cross-entropy of a linear head without its logits: its time beside torch and libraries."""

from __future__ import annotations

from functools import partial

from harness.declare import Criterion, Scope, at_most, claims
from reproductions.kernels.speed import quantities as q
from reproductions.kernels.speed.claims import GOAL, WHERE, speed_task
from reproductions.kernels.speed.experiment import COMPILED, EAGER, TRITON
from reproductions.kernels.speed.table import layout_of

LIBRARIES = ("torch's linear_cross_entropy", "Liger")


def beside(column: str, what: str) -> tuple[Scope, Criterion, str]:
    """Return the goal that ours needs no more of a column than the better library, to a tenth."""
    ratio = partial(q.beside_libraries, case="LLaMA-7B", libraries=LIBRARIES, column=column)
    words = (
        f"Triton's cross-entropy of LLaMA-7B's head takes at most 1.1 times the {what} of the"
        " better of torch's and Liger's."
    )
    return GOAL, at_most(ratio, 1.1, "ratio"), words


task = speed_task(
    "linear_cross_entropy",
    layout_of("linear_cross_entropy", EAGER, COMPILED, "all logits", *LIBRARIES, TRITON),
    claims(
        WHERE,
        ("time_beside_libraries", *beside("median_us", "time")),
        ("memory_beside_libraries", *beside("peak_bytes", "memory")),
    ),
    does="the cross-entropy of a linear head and its gradients",
)
