"""Steps and counts by signs: its time beside torch and libraries."""

from __future__ import annotations

from reproductions.kernels.speed.claims import near_the_copy, speed_task
from reproductions.kernels.speed.experiment import COMPILED, EAGER, TRITON
from reproductions.kernels.speed.table import layout_of

task = speed_task(
    "sign_ops",
    layout_of("sign_ops", EAGER, COMPILED, TRITON),
    (
        *near_the_copy("a GPT, perturb", "step along signs"),
        *near_the_copy("a GPT, count", "count of same signs", of="count"),
        *near_the_copy("a GPT, FedSign", "penalty of FedSign with its gradient", of="fedsign"),
    ),
    does="steps along signs, counts of same signs and FedSign's penalty",
)
