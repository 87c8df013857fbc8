"""LISA on logistic regression in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of
from reproductions.lisa.memory.experiment import Policy

DECAYS = (0.1, 0.01)


class Run(Params):
    """A run of projected AdamW under LISA."""

    policy: Policy = doc("What happens to the states of blocks that are frozen again.")
    decay: float = doc("Weight decay of AdamW.")
    seed: int = seed("One run: layers and batches.")
    steps: int = doc("Optimizer steps.")
    num_blocks: int = doc("Blocks that the weights are cut into.", default=8)
    gamma: int = doc("Blocks that train at once.", default=2)
    period: int = doc("Steps between two draws of blocks, the paper's K.", default=13)
    batch_size: int = doc("Samples per step.", default=32)
    lr: float = doc("Step size at the first step; it falls like one over the root.", default=0.1)
    radius: float = doc(
        "Radius of the ball that weights are projected on; it holds both optima.", default=50.0
    )


def grid(profile: Profile) -> Iterator[Run]:
    """Yield every policy and decay; at `cpu` with a last decade that has forgotten the start."""
    if profile not in ("smoke", "cpu"):
        return
    steps = 60 if profile == "smoke" else 20_000
    for policy in get_args(Policy):
        for decay in DECAYS:
            for number in seeds_of(profile):
                yield Run(policy=policy, decay=decay, seed=number, steps=steps)


runs = Experiment(
    "lisa/convex",
    version=1,
    params=Run,
    grid=grid,
    run="trial:convex_rows",
    needs=Needs(data=("digits",)),
    estimate=lambda run: Estimate(seconds=0.1 + 6e-4 * run.steps, memory_bytes=2**30),
    address=("policy", "decay", "seed"),
)
