"""Every strategy over many clusters, and its cost at the paper's inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Literal

from harness.declare import Estimate, Experiment, Params, Profile, doc
from reproductions.paro.collectives.experiment import PAPER_INPUTS, Inputs
from reproductions.paro.method.peers import NAMED
from reproductions.paro.method.peers import RELEASED as RUN_AS_NAMED
from reproductions.paro.models.paper_inputs import ACCUMULATION

KNOWN_AS = {**NAMED, "GGG": f"{NAMED['GGG']}, FSDP"}
RELEASED = (*RUN_AS_NAMED, "ING")
"""What the configuration of the authors' branch accepts: GitHub HanxiaoZhang/PaRO, branch paro,
deepspeed/runtime/zero/config.py. The first three run stock ZeRO."""


class Sweep(Params):
    """All strategies, compared on a few hundred settings."""

    world: Literal["flat", "hier"] = doc(
        "Collectives of all GPUs. flat: one ring. hier: PaRO-CC in two steps."
    )


class Costs(Inputs):
    """All strategies, at one setting."""

    accumulation: int = doc("s, micro-batches of a step.")


def sweep_grid(profile: Profile) -> Iterator[Sweep]:
    """Yield both ways of a collective of all GPUs."""
    if profile in ("smoke", "cpu"):
        yield from (Sweep(world="flat"), Sweep(world="hier"))


def costs_grid(profile: Profile) -> Iterator[Costs]:
    """Yield the paper's inputs: LLaMA-7B and 65B, all parameters trained or a share of them."""
    if profile in ("smoke", "cpu"):
        points = PAPER_INPUTS if profile == "cpu" else PAPER_INPUTS[:2]
        yield from (Costs(**asdict(point), accumulation=ACCUMULATION) for point in points)


def estimate(point: Params) -> Estimate:
    """Return part of a second: nothing is trained."""
    return Estimate(seconds=0.3, memory_bytes=2**28)


sweeps = Experiment(
    "paro/strategy_sweep", version=1, params=Sweep, grid=sweep_grid,
    run="trial:sweep_rows", seed_from=(), estimate=estimate,
)  # fmt: skip
costs = Experiment(
    "paro/strategy_costs", version=1, params=Costs, grid=costs_grid,
    run="trial:cost_rows", seed_from=(), estimate=estimate, address=("model", "trainable_share"),
)  # fmt: skip
