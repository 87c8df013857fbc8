"""Inner steps together with their tangents: its time beside torch and libraries."""

from __future__ import annotations

from reproductions.kernels.speed.claims import near_the_copy, speed_task
from reproductions.kernels.speed.experiment import COMPILED, EAGER, TRITON
from reproductions.kernels.speed.table import layout_of

task = speed_task(
    "tangent_step",
    layout_of("tangent_step", EAGER, COMPILED, "torch.func's jvp", TRITON),
    near_the_copy("tangent_step", "a GPT's layer", does="Adam with 16 tangents is"),
    does="a step of Adam with its tangents",
)
