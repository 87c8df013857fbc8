"""Every strategy over many clusters, and its cost at the paper's inputs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from harness.declare import Params, doc
from reproductions.paro.collectives.experiment import PAPER_INPUTS, Inputs, arithmetic
from reproductions.paro.method.peers import NAMED
from reproductions.paro.method.peers import RELEASED as RUN_AS_NAMED
from reproductions.paro.models.grids import grid_of
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


AT_PAPER = [Costs(**asdict(point), accumulation=ACCUMULATION) for point in PAPER_INPUTS]
sweeps = arithmetic(
    "paro/strategy_sweep",
    params=Sweep,
    grid=grid_of([Sweep(world="flat"), Sweep(world="hier")]),
    run="trial:sweep_rows",
)
costs = arithmetic(
    "paro/strategy_costs",
    params=Costs,
    grid=grid_of(AT_PAPER[:2], AT_PAPER),
    run="trial:cost_rows",
    address=("model", "trainable_share"),
)
