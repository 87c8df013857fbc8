"""Known systems, and the strategies that their settings are."""

from __future__ import annotations

from harness.declare import Estimate, Experiment, doc
from reproductions.paro.models.grids import grid_of
from reproductions.paro.models.paper_inputs import (
    ACCUMULATION,
    MODELS,
    NUM_GPUS,
    SHARES,
    PaperCluster,
)


class Inputs(PaperCluster):
    """What costs of settings are compared on."""

    num_gpus: int = doc("n.")
    num_params: float = doc("Psi.")
    trainable_share: float = doc("Psi' / Psi.")
    accumulation: int = doc("s, micro-batches per optimizer step.")


LLAMA_7B = Inputs(
    num_gpus=NUM_GPUS, num_params=MODELS["LLaMA-7B"], trainable_share=SHARES["1/16"],
    accumulation=ACCUMULATION,
)  # fmt: skip
"""The inputs of the paper's guideline, 1/16 of the model trained."""
peers = Experiment(
    "paro/peers",
    version=3,
    params=Inputs,
    grid=grid_of([LLAMA_7B]),
    run="trial:peer_rows",
    seed_from=(),
    estimate=lambda inputs: Estimate(seconds=1.0, memory_bytes=2**28),
    address=("num_params", "trainable_share"),
)
