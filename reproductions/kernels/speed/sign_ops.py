"""FedSign's penalty with its gradient: its time beside torch and libraries."""

from __future__ import annotations

from reproductions.kernels.speed.claims import near_the_copy, speed_task
from reproductions.kernels.speed.experiment import COMPILED, EAGER, TRITON
from reproductions.kernels.speed.table import layout_of

task = speed_task(
    "sign_ops",
    layout_of("sign_ops", EAGER, COMPILED, TRITON),
    near_the_copy(
        "sign_ops",
        "a GPT",
        does="penalty of FedSign, with its gradient, is",
    ),
    does="FedSign's penalty with its gradient",
)
