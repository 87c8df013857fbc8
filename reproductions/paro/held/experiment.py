"""Bytes of tensors that DDP and FSDP2 hold on each of a few ranks, setting by setting."""

from __future__ import annotations

from typing import Literal, get_args

from harness.declare import Estimate, Experiment, Needs, Params, doc
from reproductions.paro.models.grids import grid_of

Net = Literal["even", "odd"]
"""even: the rows of every tensor divide by the ranks; odd: none do."""
WIDTHS: dict[Net, tuple[int, ...]] = {"even": (8, 16, 8), "odd": (7, 13, 5)}
"""Linear layers, all biased."""
State = Literal["params", "params_between_passes", "params_between_micro_batches", "grads", "adam"]
STATES: tuple[State, ...] = get_args(State)
PARAM_BYTES, GRAD_BYTES, ADAM_BYTES = 4, 4, 8
"""In float32, without a second copy of the parameters: two moments are all that Adam holds."""


class Ranks(Params):
    """Processes that train together."""

    num_ranks: int = doc("Ranks, n.")
    group_size: int = doc("Ranks per group, m: the inner axis of a mesh of two.")


FOUR, EIGHT = Ranks(num_ranks=4, group_size=2), Ranks(num_ranks=8, group_size=4)
held = Experiment(
    "paro/held_bytes",
    version=2,
    params=Ranks,
    grid=grid_of([FOUR], [FOUR, EIGHT]),
    run="trial:held_rows",
    seed_from=(),
    needs=Needs(memory_bytes=2**30),
    estimate=lambda ranks: Estimate(seconds=4.0 + 0.5 * ranks.num_ranks, memory_bytes=2**30),
    address=("num_ranks",),
)
