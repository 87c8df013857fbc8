"""Cross-entropy of a linear head without its logits: its time beside torch and libraries."""

from __future__ import annotations

from functools import partial

from harness.declare import at_most, claims
from reproductions.kernels.speed import quantities as q
from reproductions.kernels.speed.claims import GOAL, WHERE, speed_task
from reproductions.kernels.speed.experiment import COMPILED, EAGER, TRITON
from reproductions.kernels.speed.table import layout_of

LIBRARIES = ("torch's linear_cross_entropy", "Liger")

task = speed_task(
    "linear_cross_entropy",
    layout_of("linear_cross_entropy", EAGER, COMPILED, "all logits", *LIBRARIES, TRITON),
    tuple(
        claim
        for name, column, needs in (
            ("time_beside_libraries", "median_us", "as little time"),
            ("memory_beside_libraries", "peak_bytes", "as little memory"),
        )
        for claim in claims(
            WHERE,
            (
                name,
                GOAL,
                at_most(
                    partial(
                        q.beside_libraries, case="LLaMA-7B", libraries=LIBRARIES, column=column
                    ),
                    1.1,
                    "ratio",
                ),
                f"Triton's cross-entropy of LLaMA-7B's head takes {needs} as the better of torch's"
                " and Liger's, to a tenth.",
            ),
        )
    ),
    does="the cross-entropy of a linear head and its gradients",
)
