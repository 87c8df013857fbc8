"""Models whose passes are not one call of each unit, in order, with everything used."""

from __future__ import annotations

import contextlib
from collections import Counter
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from reproductions.paro.method.engine import Paro, mesh_of_groups
from reproductions.paro.models.gloo_ranks import on_ranks
from tests.reproductions.paro.method.engine.nets import assert_near

WIDTH, STEPS, NUM_RANKS = 5, 2, 4
SGD = partial(torch.optim.SGD, lr=0.1, momentum=0.9)
STRATEGIES = ("NIG", "GGG")
LOOPS = (
    "plain", "reused", "changing", "checkpointed", "checkpointed as one", "two losses", "failed",
    "units in units",
)  # fmt: skip
Given = dict[str, Tensor | None]


class Branch(nn.Module):
    """Takes and returns a dictionary; one of its layers is used where a flag says so."""

    def __init__(self) -> None:
        super().__init__()
        self.always, self.sometimes = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, *, given: Given, both: bool) -> Given:
        hidden = given["hidden"]
        assert hidden is not None
        hidden = torch.tanh(self.always(hidden))
        return {"hidden": hidden + self.sometimes(hidden) if both else hidden, "none": None}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.branches = nn.ModuleList(Branch() for _ in range(3))
        self.num_calls = 0

    def forward(self, inputs: Tensor, *, both: bool, loop: str) -> Tensor:
        given: Given = {"hidden": self.first(inputs)}
        run = partial(checkpoint, use_reentrant=False)
        order = [0, 1, 0, 2] if loop == "reused" else [0, 1, 2]
        if loop == "changing":
            order = [0, 1, 2] if self.num_calls % 2 else [2, 0, 0, 1]
        self.num_calls += 1
        if loop == "checkpointed as one":
            given = run(self.through, given, both)
            order = []
        for place in order:
            branch = self.branches[place]
            if loop == "checkpointed":
                given = run(branch, given=given, both=both)
            else:
                given = branch(given=given, both=both)
        hidden = given["hidden"]
        assert hidden is not None
        return hidden

    def through(self, given: Given, both: bool) -> Given:
        for branch in self.branches:
            given = branch(given=given, both=both)
        return given


def net_of(seed: int) -> Net:
    torch.manual_seed(seed)
    return Net().double()


def backward(net: Net, loop: str, step: int, rank: int) -> None:
    """Run the passes of one rank's batch; what not every rank uses is rank 0's alone."""
    net.num_calls = step
    source = torch.Generator().manual_seed(10 * step + rank)
    inputs = torch.rand(4, WIDTH, generator=source, dtype=torch.float64)
    call = partial(net, both=rank == 0, loop=loop)
    with torch.no_grad():
        call(inputs)
    net.num_calls = step
    if loop == "two losses":
        losses = [call(part).square().sum() for part in inputs.chunk(2)]
        for loss in losses:
            loss.backward()
    else:
        call(inputs).square().sum().backward()


def train_on_rank(cases: list[list[str]]) -> dict[str, Any]:
    mesh = mesh_of_groups(2)
    found = []
    for letters, loop in cases:
        # Other values on every rank: rank 0's are everybody's.
        net = net_of(dist.get_rank())
        inner = [net.get_submodule(name) for name in ("branches.0", "branches.0.always")]
        units = inner if loop == "units in units" else None
        engine = Paro(net, mesh, letters, optimizer=SGD, units=units)
        sent = engine.collectives.wire.sent_bytes
        for step in range(STEPS):
            if loop == "failed":
                fail(net)
                engine.forget()
                sent.clear()
            backward(net, loop, step, dist.get_rank())
            by_term = Counter[str]()
            for what, size in sent.items():
                by_term[what.purpose.term] += size
            engine.step()
            sent.clear()
        weights = {name: value.tolist() for name, value in engine.state_dict().items()}
        found.append({"weights": weights, "sent": by_term})
    return {"trained": found, "ahead": watch(prefetch=True), "not ahead": watch(prefetch=False)}


def fail(net: Net) -> None:
    """Run a backward pass that ends in the middle."""

    def stop(_: Tensor) -> None:
        raise ZeroDivisionError

    # Within a branch: the gradients of its other layer are there.
    handle = net.get_submodule("branches.1.always").register_forward_hook(
        lambda _, args, output: output.register_hook(stop) and None
    )
    with contextlib.suppress(ZeroDivisionError):
        net(torch.ones(1, WIDTH).double(), both=True, loop="plain").sum().backward()
    handle.remove()


def alone(loop: str) -> dict[str, Tensor]:
    net = net_of(0)
    optimizer = SGD(net.parameters())
    for step in range(STEPS):
        optimizer.zero_grad()
        for rank in range(NUM_RANKS):
            backward(net, loop, step, rank)
        for param in net.parameters():
            assert param.grad is not None
            param.grad /= NUM_RANKS
        optimizer.step()
    return {name: value.detach() for name, value in net.state_dict().items()}


def watch(*, prefetch: bool) -> list[list[Any]]:
    """Return, whenever a branch computes, which branches are gathered or about to be."""
    net = net_of(0)
    engine = Paro(net, mesh_of_groups(2), "GGG", optimizer=SGD, prefetch=prefetch)
    weight = net.get_parameter("branches.0.always.weight")
    assert weight.isnan().all(), "what is elsewhere is no number, and no freed memory"
    assert weight.shape == (WIDTH, WIDTH)
    branches = engine.passes.units[1:]
    seen: list[list[Any]] = []

    def look(way: str, place: int, *_: Any) -> None:
        seen.append([way, place, [i for i, unit in enumerate(branches) if unit.gathering]])

    for place, branch in enumerate(net.branches):
        branch.register_forward_pre_hook(partial(look, "forward", place))
        branch.get_parameter("always.bias").register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]
            partial(look, "backward", place)
        )
    for _ in range(2):
        seen.clear()
        net(torch.ones(1, WIDTH).double(), both=True, loop="plain").sum().backward()
    return seen


def test_passes_of_any_shape_give_the_gradients_of_one_process() -> None:
    cases = [[letters, loop] for letters in STRATEGIES for loop in LOOPS]
    cases += [["IIG", loop] for loop in ("changing", "units in units")]
    ranks = on_ranks(train_on_rank, NUM_RANKS, cases=cases)
    trained = [rank["trained"] for rank in ranks]
    for (letters, loop), *found in zip(cases, *trained, strict=True):
        for name, value in alone(loop).items():
            for rank in found:
                assert_near(rank["weights"][name], value, (letters, loop, name))
    sent = {tuple(case): found["sent"] for case, found in zip(cases, trained[0], strict=True)}
    for letters in STRATEGIES:
        plain = sent[letters, "plain"]
        assert sent[letters, "failed"] == plain
        assert sent[letters, "checkpointed"] == plain, "running it again needs no gather of its own"
        assert sent[letters, "reused"].get("gradient") == plain.get("gradient"), "reduced once"
    assert sent["GGG", "plain"]["gradient"] > 0
    for rank in ranks:
        assert rank["ahead"] == gathered(1), "the next unit is gathered while one computes"
        assert rank["not ahead"] == gathered(0)


def gathered(ahead: int) -> list[list[Any]]:
    """Return which branches are to be gathered, so many of them ahead, whenever one computes."""
    return [
        *(["forward", i, list(range(i, min(i + ahead, 2) + 1))] for i in range(3)),
        *(["backward", i, list(range(max(i - ahead, 0), i + 1))] for i in (2, 1, 0)),
    ]
