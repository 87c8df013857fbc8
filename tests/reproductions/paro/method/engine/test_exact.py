"""Sums that no order changes: a net of whole numbers, equal to the last bit in any precision."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from harness.errors import RunError
from reproductions.paro.method.engine import Paro, Precision, mesh_of_groups
from reproductions.paro.method.strategy import EFFECTIVE
from reproductions.paro.models.gloo_ranks import on_ranks

NUM_RANKS, STEPS, MICRO_STEPS = 4, 2, 2
SGD = partial(torch.optim.SGD, lr=2.0**-4, momentum=0.5)
PRECISIONS = {
    "float32": Precision(),
    "bfloat16": Precision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32),
}
BAD_STEP = 1
"""Whose gradient is not finite on one rank."""
Weights = dict[str, list[Any]]


class Whole(nn.Module):
    """Two linear layers one after the other, of whole numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 5), nn.Linear(5, 2)])
        for seed, param in enumerate(self.parameters()):
            param.data = whole(param.shape, seed)

    def forward(self, inputs: Tensor) -> Tensor:
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs


def whole(shape: torch.Size, seed: int) -> Tensor:
    source = torch.Generator().manual_seed(seed)
    return torch.randint(-2, 3, shape, generator=source).float()


def loss_of(net: nn.Module, step: int, micro_step: int, rank: int) -> Tensor:
    """Return a loss that is linear in each layer; what it is of has the type of its weights."""
    seed = 100 * step + 10 * micro_step + rank
    outputs: Tensor = net(whole(torch.Size((2, 3)), seed).to(next(net.parameters()).dtype))
    return (outputs * whole(outputs.shape, seed + 1000).to(outputs.dtype)).sum()


def train_on_rank(group_size: int, lines: list[list[str]]) -> list[list[Any]]:
    mesh = mesh_of_groups(group_size)
    return [train(mesh, *line) for line in lines]


def train(mesh: Any, letters: str, name: str, fault: str) -> list[Any]:
    """Return weights after training; fault: by what a loss is multiplied on the last rank."""
    engine = Paro(Whole(), mesh, letters, optimizer=SGD, precision=PRECISIONS[name])
    last = dist.get_rank() == NUM_RANKS - 1
    told = ""
    for step in range(STEPS + bool(fault)):
        for k in range(MICRO_STEPS):
            loss = loss_of(engine.model, step, k, dist.get_rank())
            engine.backward(loss * float(fault) if fault and last and step == BAD_STEP else loss)
        before = engine.state_dict() if fault else {}
        try:
            engine.step()
        except RunError as error:
            told += str(error)
            after = engine.state_dict()
            assert before and all(before[each].equal(after[each]) for each in before)
    weights = engine.state_dict()
    shown = dict(engine.model.named_parameters())
    if engine.strategy.params == "N":
        assert all(weights[each].to(shown[each].dtype).equal(shown[each]) for each in weights)
    return [told, {each: value.tolist() for each, value in weights.items()}]


@cache
def alone(name: str, dtype: torch.dtype, *, without: int = -1) -> Weights:
    """Return what one process makes of all ranks' batches, its sums in a type of its own."""
    net, masters = Whole(), [param.detach().clone().to(dtype) for param in Whole().parameters()]
    optimizer = SGD(masters)
    for step in range(STEPS + (without >= 0)):
        if step == without:
            continue
        sums = [torch.zeros_like(master) for master in masters]
        for k in range(MICRO_STEPS):
            for rank in range(NUM_RANKS):
                for param, master in zip(net.parameters(), masters, strict=True):
                    param.data = master.to(PRECISIONS[name].param_dtype or dtype)
                    param.grad = None
                loss_of(net, step, k, rank).backward()  # type: ignore[no-untyped-call]
                for total, param in zip(sums, net.parameters(), strict=True):
                    assert param.grad is not None
                    total += param.grad
        for master, total in zip(masters, sums, strict=True):
            master.grad = total / NUM_RANKS
        optimizer.step()
    return {
        each: m.float().tolist()
        for (each, _), m in zip(net.named_parameters(), masters, strict=True)
    }


def test_every_strategy_gives_the_same_bits() -> None:
    """In bfloat16 with a copy in float32, and without one; also where a batch is left out."""
    lines = [[str(strategy), "bfloat16", ""] for strategy in EFFECTIVE]
    lines += [["NIG", "float32", ""], ["GGG", "float32", ""], ["IIG", "float32", "inf"]]
    lines += [["NNG", "bfloat16", "nan"], ["GGG", "bfloat16", "nan"]]
    ranks = on_ranks(train_on_rank, NUM_RANKS, group_size=2, lines=lines)
    for line, *found in zip(lines, *ranks, strict=True):
        without = BAD_STEP if line[2] else -1
        wanted = alone(line[1], torch.float32, without=without)
        assert wanted == alone(line[1], torch.float64, without=without), "no sum is rounded"
        for told, weights in found:
            assert weights == wanted, line
            assert told == found[0][0], "all ranks say the same"
            assert ("layers.1 is not finite: nothing was changed" in told) is bool(line[2]), line
