"""What parameters have of their own, what changes while training, and what is each rank's."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from reproductions.paro.method.engine import Paro, mesh_of_groups
from reproductions.paro.method.engine.checkpoint import load, save
from reproductions.paro.models.gloo_ranks import on_ranks
from tests.reproductions.paro.method.engine.nets import (
    Net,
    assert_near,
    loss_of,
    micro_batch,
    train,
)

NUM_RANKS, BEFORE, AFTER = 4, 2, 2
ADAMW = partial(torch.optim.AdamW, lr=1e-2, weight_decay=0.5)
LATER = range(BEFORE, BEFORE + AFTER)
STRATEGIES = ("NIG", "IIG")


class Counting(Net):
    """Counts its calls; ranks are made with numbers of their own."""

    calls: Tensor

    def __init__(self, start: int) -> None:
        super().__init__()
        self.register_buffer("calls", torch.tensor(float(start)))
        self.register_buffer("scratch", torch.full((2, 3), float(start)).T, persistent=False)
        self.register_buffer("turns", torch.full((2,), 1j * start), persistent=False)
        self.register_buffer("mask", torch.tensor([start > 0, True]), persistent=False)
        self.register_buffer("places", torch.arange(3).expand(2, 3), persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        self.calls += 1
        return super().forward(tokens)


def options(name: str, param: nn.Parameter) -> dict[str, float]:
    """Return that norms and biases do not decay."""
    return {"weight_decay": 0.0} if param.ndim == 1 else {}


def halving(optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.StepLR:
    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)


def train_on_rank(folder: str) -> list[dict[str, Any]]:
    """Train, save, go on; and go on again from the checkpoint, with other settings at first."""
    found = []
    for letters in STRATEGIES:
        path = Path(folder) / letters
        wrap = partial(Paro, mesh=mesh_of_groups(2), strategy=letters, options=options)
        engine = wrap(Counting(10 * dist.get_rank()), optimizer=ADAMW)
        starts = {name: buffer.clone() for name, buffer in engine.model.named_buffers()}
        engine.model.get_buffer("calls").fill_(10 * dist.get_rank())
        schedule = halving(engine.optimizer)
        losses = train(engine, range(BEFORE), after=schedule.step)
        save(engine, path, {"schedule": schedule.state_dict()})
        losses += train(engine, LATER, after=schedule.step)
        other = wrap(Counting(99), optimizer=partial(ADAMW, lr=1.0, weight_decay=0.0))
        later = halving(other.optimizer)
        later.load_state_dict(load(other, path)["schedule"])
        calls = other.model.get_buffer("calls").item()
        found.append({
            "losses": losses, "again": train(other, LATER, after=later.step),
            "starts": all(map(torch.equal, starts.values(), Counting(0).buffers())),
            "calls": calls, "own": engine.model.get_buffer("calls").item(),
            "state": {name: value.tolist() for name, value in engine.state_dict().items()},
        })  # fmt: skip
    return found


def alone() -> tuple[list[float], dict[str, Tensor]]:
    net = Net()
    params = dict(net.named_parameters())
    groups = [{"params": [param], **options(name, param)} for name, param in params.items()]
    optimizer = ADAMW(groups)
    schedule = halving(optimizer)
    losses = []
    for step in range(BEFORE + AFTER):
        loss = loss_of(net, torch.cat([micro_batch(step, 0, rank) for rank in range(NUM_RANKS)]))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses, {name: value.detach() for name, value in net.state_dict().items()}


def test_settings_and_buffers_are_kept(tmp_path: Path) -> None:
    ranks = on_ranks(train_on_rank, NUM_RANKS, folder=str(tmp_path))
    losses, weights = alone()
    for place in range(len(STRATEGIES)):
        every = torch.tensor([rank[place]["losses"] for rank in ranks], dtype=torch.float64)
        assert_near(every.mean(dim=0), losses, STRATEGIES[place])
        for number, rank in enumerate(ranks):
            found = rank[place]
            assert found["again"] == found["losses"][BEFORE:], "to the last bit"
            assert found["starts"], "rank 0's, also those that no state dict has"
            assert found["own"] == 10 * number + BEFORE + AFTER, "each rank's own"
            assert found["calls"] == BEFORE, "rank 0's, when it was saved"
            state = found["state"]
            assert state.keys() == {*weights, "calls"}
            assert state["calls"] == BEFORE + AFTER, "rank 0's, on every rank"
            for name, value in weights.items():
                assert_near(state[name], value, name)
