"""What a rank does while it is traced."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from reproductions.paro.method.engine import Paro, Trace, mesh_of_groups
from reproductions.paro.method.engine.collectives import Collectives
from reproductions.paro.method.engine.groups import Groups
from reproductions.paro.method.engine.layout import Layout
from reproductions.paro.method.schedule import Collective
from reproductions.paro.traces.experiment import DRAWN, Gather, Step

SEQUENCES = 8


class Net(nn.Module):
    """Linear layers in a list, and one after it."""

    def __init__(self, width: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(num_layers))
        self.head = nn.Linear(width, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        for layer in self.layers:
            inputs = torch.tanh(layer(inputs))
        out: Tensor = self.head(inputs)
        return out


def steps_on_rank(point: dict[str, Any]) -> dict[str, list[Any]]:
    """Return events of a second step, by strategy; those of all GPUs are in two layers."""
    step = Step.from_json(point)
    mesh = mesh_of_groups(step.group_size)
    found = {}
    for letters in DRAWN:
        trace = Trace()
        engine = Paro(
            Net(step.width, step.num_layers), mesh, letters, trace=trace, collectives="two-layer",
            optimizer=partial(torch.optim.AdamW, lr=1e-3),
        )  # fmt: skip
        for _ in range(2):
            dist.barrier()
            trace.events.clear()
            for _ in range(step.micro_steps):
                engine.backward(engine.model(torch.ones(SEQUENCES, step.width)).square().mean())
            engine.step()
        found[letters] = noted(trace)
    return found


def gather_on_rank(point: dict[str, Any]) -> list[Any]:
    """Return events of a second all-gather in two layers."""
    gather = Gather.from_json(point)
    trace = Trace()
    groups = Groups(mesh_of_groups(gather.group_size))
    collectives = Collectives(groups, "two-layer", trace=trace)
    layout = Layout(gather.num_ranks * gather.part_entries, groups.cluster)
    for _ in range(2):
        dist.barrier()
        trace.events.clear()
        whole = torch.zeros(layout.padded)
        whole[layout.span("G", groups.rank)] = float(groups.rank)
        all_gather = Collective(kind="all_gather", scope="world")
        collectives.run(all_gather, [whole], [layout], term="traced")
    return noted(trace)


def noted(trace: Trace) -> list[dict[str, Any]]:
    """Return events as JSON has them."""
    return [asdict(event) for event in trace.in_order()]
