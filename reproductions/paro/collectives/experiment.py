"""Blocks, collectives, the cost of each term, and whole steps counted message by message."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

from harness.declare import Estimate, Experiment, Params, doc
from reproductions.paro.models.grids import grid_of
from reproductions.paro.models.paper_inputs import MODELS, NUM_GPUS, SHARES, PaperCluster

SMALL_CLUSTERS = ((4, 2), (8, 4), (8, 2), (6, 3), (9, 3), (15, 5), (7, 7), (5, 1))
"""n and m; the last two have one group, and groups of one GPU."""


class Numbered(Params):
    """Who holds which blocks, on several clusters."""

    numbering: Literal["contiguous", "strided"] = doc(
        "Which blocks a GPU holds under I: contiguous, one slice; strided, every m-th."
    )


class Sample(Params):
    """Every collective once, on a small state."""

    num_gpus: int = doc("n.")
    group_size: int = doc("m.")


class Inputs(PaperCluster):
    """What a guideline is told of model and cluster."""

    model: str = doc("Model.")
    num_params: float = doc("Psi.")
    trainable_share: float = doc("Psi' / Psi.")
    num_gpus: int = doc("n.", default=NUM_GPUS)


class Counted(Params):
    """A step of every strategy, message by message."""

    num_gpus: int = doc("n.")
    group_size: int = doc("m.")
    numbering: Literal["contiguous", "strided"] = doc("Which blocks a GPU holds under I.")
    accumulation: int = doc("s, micro-batches of the step.")
    num_trainable: int = doc("Trainable parameters, before they are padded to a multiple of n.")
    num_frozen: int = doc("Frozen parameters, before they are padded.")


PAPER_INPUTS = tuple(
    Inputs(model=model, num_params=num_params, trainable_share=share)
    for model, num_params in MODELS.items()
    for name, share in SHARES.items()
    if (model, name) != ("LLaMA-7B", "3/1000")
)
SEVEN_B = PAPER_INPUTS[0]
OTHER_CLUSTERS = (
    replace(SEVEN_B, num_gpus=8, inter_gbit_per_s=100.0, intra_gbit_per_s=100.0),
    replace(SEVEN_B, num_gpus=48, group_size=3, inter_gbit_per_s=100.0, intra_gbit_per_s=100.0),
    replace(SEVEN_B, num_gpus=128, inter_gbit_per_s=25.0, intra_gbit_per_s=300.0),
)
"""One group; odd groups whose links are all alike; many groups on slow links."""


def _counted(n: int, m: int, s: int, trainable: int, frozen: int) -> Counted:
    """Return a point; the numberings take turns, for no byte depends on them."""
    return Counted(
        num_gpus=n, group_size=m, numbering="contiguous" if (n + s) % 2 else "strided",
        accumulation=s, num_trainable=trainable, num_frozen=frozen,
    )  # fmt: skip


COUNTED_AT_SMOKE = (
    *(_counted(6, 3, s, 23, 4) for s in (1, 2, 3)),
    _counted(15, 5, 1, 47, 13),
    _counted(7, 7, 3, 5, 30),
    _counted(5, 1, 1, 11, 9),
)
FURTHER_COUNTED = (
    _counted(4, 2, 3, 1, 0),
    _counted(9, 3, 1, 31, 1),
    _counted(9, 3, 3, 28, 100),
    *(_counted(8, 2, s, 17, 41) for s in (1, 2, 3)),
    _counted(8, 4, 1, 64, 0),
    _counted(12, 3, 3, 50, 7),
    _counted(15, 5, 3, 46, 14),
)


SAMPLES = [Sample(num_gpus=8, group_size=4), Sample(num_gpus=15, group_size=5)]
"""One of them of odd numbers."""
arithmetic = partial(
    Experiment,
    version=1,
    seed_from=(),
    estimate=lambda point: Estimate(seconds=0.3, memory_bytes=2**28),
)
"""What experiments have alike in which nothing is trained."""
blocks = arithmetic(
    "paro/blocks",
    params=Numbered,
    grid=grid_of([Numbered(numbering="contiguous"), Numbered(numbering="strided")]),
    run="trial:block_rows",
)
collectives = arithmetic(
    "paro/collectives", params=Sample, grid=grid_of(SAMPLES), run="trial:collective_rows"
)
terms = arithmetic(
    "paro/cost_terms",
    params=Inputs,
    grid=grid_of((*PAPER_INPUTS[:2], *OTHER_CLUSTERS), (*PAPER_INPUTS, *OTHER_CLUSTERS)),
    run="trial:term_rows",
    address=("model", "trainable_share", "num_gpus", "group_size"),
)
steps = arithmetic(
    "paro/counted_steps",
    params=Counted,
    grid=grid_of(COUNTED_AT_SMOKE, (*COUNTED_AT_SMOKE, *FURTHER_COUNTED)),
    run="trial:step_rows",
    address=("num_gpus", "group_size", "accumulation"),
)
