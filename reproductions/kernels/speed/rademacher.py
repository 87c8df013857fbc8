"""Sums of random directions that are never stored: its time beside torch and libraries.

No goal of a copy: ten rounds of Philox per four words take longer than an output's bytes.
"""

from __future__ import annotations

from functools import partial

from harness.declare import at_most, claims
from reproductions.kernels.speed import quantities as q
from reproductions.kernels.speed.claims import GOAL, WHERE, speed_task, times_as_fast
from reproductions.kernels.speed.experiment import COMPILED, CUDA, EAGER, TRITON
from reproductions.kernels.speed.table import layout_of

PEER = "drawn, then multiplied"

task = speed_task(
    "rademacher",
    layout_of("rademacher", EAGER, COMPILED, PEER, TRITON, CUDA),
    (
        *times_as_fast(
            "beside_matmul",
            "50 per class, sum",
            PEER,
            3.0,
            "Triton's sum of 128 random directions is at least 3 times as fast as drawing and"
            " multiplying them.",
        ),
        *claims(
            WHERE,
            (
                "memory_of_the_output",
                GOAL,
                at_most(partial(q.peak_over_output, case="50 per class, sum"), 1.5, "outputs"),
                "Triton's sum of 128 random directions needs little more memory than its output.",
            ),
        ),
    ),
    does="weighted sums of random signs and products with them",
)
