"""A linear map of masked weights: its time beside torch and libraries."""

from __future__ import annotations

from reproductions.kernels.speed.claims import speed_task
from reproductions.kernels.speed.experiment import COMPILED, EAGER, TRITON
from reproductions.kernels.speed.table import layout_of

task = speed_task(
    "masked_linear",
    layout_of(
        "masked_linear", EAGER, COMPILED, "dense product", "torch 2:4, forward alone", TRITON
    ),
    (),
    does="a product with masked weights and both derivatives",
)
