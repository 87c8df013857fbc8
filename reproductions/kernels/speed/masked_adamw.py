"""AdamW of masked weights: its time beside torch and libraries."""

from __future__ import annotations

from reproductions.kernels.speed.claims import near_the_copy, speed_task, times_as_fast
from reproductions.kernels.speed.experiment import COMPILED, CUDA, EAGER, TRITON
from reproductions.kernels.speed.table import LIBRARIES, layout_of

PEER = "torch fused, then masks"
PEERS = (PEER, "torchao, then masks")
NOTES = (
    LIBRARIES,
    "Plain torch and our kernels return norms of gradients and weights too. Torch applies masks"
    " tensor by tensor, on a GPU in a launch each.",
)
task = speed_task(
    "masked_adamw",
    layout_of("masked_adamw", EAGER, COMPILED, *PEERS, TRITON, CUDA, notes=NOTES),
    (
        *near_the_copy("masked_adamw", "268 million", does="masked AdamW is"),
        *times_as_fast(
            "beside_fused",
            "268 million",
            PEER,
            1.4,
            "Triton's masked AdamW is at least 1.4 times as fast as torch's fused AdamW with masks"
            " beside it.",
        ),
    ),
    does="a step of masked AdamW",
)
