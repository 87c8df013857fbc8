"""Known systems, and the strategies that their settings are."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Estimate, Experiment, Params, Profile, doc


class Inputs(Params):
    """What costs of settings are compared on."""

    num_gpus: int = doc("n.")
    group_size: int = doc("m.")
    inter_gbit_per_s: float = doc("B, between groups.")
    intra_gbit_per_s: float = doc("B', within a group.")
    num_params: float = doc("Psi.")
    trainable_share: float = doc("Psi' / Psi.")
    accumulation: int = doc("s, micro-batches per optimizer step.")


def grid(profile: Profile) -> Iterator[Inputs]:
    """Yield the inputs of the paper's guideline for LLaMA-7B, 1/16 of it trained."""
    if profile in ("smoke", "cpu"):
        yield Inputs(
            num_gpus=32, group_size=8, inter_gbit_per_s=80.0, intra_gbit_per_s=2000.0,
            num_params=7e9, trainable_share=1 / 16, accumulation=10,
        )  # fmt: skip


peers = Experiment(
    "paro/peers",
    version=3,
    params=Inputs,
    grid=grid,
    run="trial:peer_rows",
    seed_from=(),
    estimate=lambda inputs: Estimate(seconds=1.0, memory_bytes=2**28),
    address=("num_params", "trainable_share"),
)
