"""What cannot be trained, and what a loop gets wrong, is told in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from harness.errors import SpecError
from reproductions.paro.method.engine import Paro, Precision, mesh_of_groups
from reproductions.paro.method.engine.refusals import refuse_uneven
from reproductions.paro.method.engine.units import REST, parts_of
from reproductions.paro.models.gloo_ranks import on_ranks
from tests.reproductions.paro.method.engine.nets import ADAMW, Net, loss_of, micro_batch

WANTED = {
    "ranks": "n=4 GPUs do not fill groups of m=3",
    "eliminated": "strategy NGI is none of the 14: its optimizer states are split coarser",
    "unknown": "no strategy 'IIX'",
    "axes": "a mesh with axes ('intra', 'inter')",
    "some": "a mesh of some ranks, or out of order",
    "device": "parameter embed.weight is on meta, the mesh on cpu: move the model there first",
    "shared": "parameter blocks.1.up.weight of unit blocks.1 is blocks.0.up.weight of unit",
    "stranger": "a unit that is not in the model: Linear",
    "list": "unit blocks is a list of modules, which no pass calls: name its entries",
    "frozen": "a model without a parameter to train",
    "collectives": "collectives='ring': one of flat, two-layer",
    "added": "parameter blocks.0.extra was added after the model was wrapped",
    "outside": "parameter blocks.1.up.bias has a gradient from outside its unit's forward pass",
    "reentrant": "a re-entrant checkpoint around a unit",
    "early": "a step without a backward pass",
    "averaged": "the model (DistributedDataParallel) averages gradients over ranks",
    "split": "embed (Embedding) is split by fully_shard or tensor parallelism",
    "twice": "the model (Net) has an engine already",
    "uneven": "optimizer steps a matrix in another way than its parts",
    "uneven at a small rate": "optimizer steps a matrix in another way than its parts",
    "another's": "optimizer made one over other tensors than the parts that it is called with",
    "in part": "optimizer made one over other tensors than the parts that it is called with",
    "matrices": "optimizer cannot step flat parts (Muon only supports 2D parameters",
    "closure": "optimizer cannot step flat parts (LBFGS.step() missing",
    "frozen later": "requires_grad of blocks.0.norm.weight was changed after the model was wrapped",
    "alone": "the engine's optimizer was stepped by itself",
    "read": "parameters of a split model are on other ranks and read NaN here",
    "read in part": "parameters of a split model are on other ranks and read NaN here",
    "written": "a state dict loaded into a wrapped model would be lost at the next step",
    "written over": "a state dict loaded into a wrapped model would be lost at the next step",
    "hidden": "unit the rest returned a SimpleNamespace, in which no tensor is found",
}


def tell_on_rank() -> dict[str, str]:
    told: dict[str, str] = {}

    @contextmanager
    def telling(name: str) -> Iterator[None]:
        try:
            yield
        except SpecError as error:
            told[name] = str(error)

    with telling("ranks"):
        mesh_of_groups(3)
    mesh = mesh_of_groups(2)
    for name, each in wrappings(mesh).items():
        with telling(name):
            each()
    net = Net()
    engine = Paro(net, mesh, "NIG", optimizer=ADAMW)
    hidden = torch.ones(1, 3, 5, dtype=torch.float64, requires_grad=True)
    with telling("reentrant"):
        checkpoint(net.blocks[0], hidden, use_reentrant=True).sum().backward()
    with telling("early"):
        engine.step()
    engine.backward(loss_of(net, micro_batch(0, 0, 0)))
    net.blocks[0].extra = nn.Parameter(torch.zeros(2, dtype=torch.float64))
    with telling("added"):
        engine.step()
    del net.blocks[0].extra
    engine.backward(net.get_parameter("blocks.1.up.bias").sum())
    with telling("outside"):
        engine.step()
    for name, each in misuses(mesh).items():
        with telling(name):
            each()
    return told


class Hidden(Net):
    """A net whose output is in an object of its own."""

    def forward(self, tokens: Tensor) -> Any:
        return SimpleNamespace(logits=super().forward(tokens))


def misuses(mesh: Any) -> dict[str, Callable[[], object]]:
    """Return what a loop may do to an engine that would train something else, or nothing."""
    wrap, state = partial(Paro, strategy="GGG", optimizer=ADAMW), Net().state_dict()
    engine, whole = (wrap(Net(), mesh) for _ in range(2))
    half = wrap(Net(), mesh, strategy="NNG", precision=Precision(param_dtype=torch.bfloat16))
    assert Paro(Net(), mesh, "NNG", optimizer=ADAMW).model.load_state_dict(state)

    def frozen_later() -> None:
        whole.backward(loss_of(whole.model, micro_batch(0, 0, 0)))
        whole.model.get_submodule("blocks.0").requires_grad_(False)
        whole.step()

    def alone() -> None:
        engine.backward(loss_of(engine.model, micro_batch(0, 0, 0)))
        engine.optimizer.step()

    return {
        "frozen later": frozen_later,
        "alone": alone,
        "read": engine.model.state_dict,
        "read in part": engine.model.get_submodule("blocks.0").state_dict,
        "written": lambda: engine.model.load_state_dict(state),
        "written over": lambda: half.model.load_state_dict(state),
        "hidden": lambda: wrap(Hidden(), mesh).model(micro_batch(0, 0, 0)),
    }


def wrappings(mesh: Any) -> dict[str, Callable[[], object]]:
    """Return what makes an engine of what none can be made of."""
    turned = init_device_mesh("cpu", (2, 2), mesh_dim_names=("intra", "inter"))
    shared, frozen, meta, split = Net(), Net(), Net(), Net()
    fully_shard(split, mesh=init_device_mesh("cpu", (4,)))
    shared.get_submodule("blocks.1.up").weight = shared.get_parameter("blocks.0.up.weight")
    frozen.requires_grad_(False)
    meta.to("meta")
    wrap = partial(Paro, strategy="IIG", optimizer=ADAMW)
    return {
        "eliminated": lambda: Paro(Net(), mesh, "NGI", optimizer=ADAMW),
        "unknown": lambda: Paro(Net(), mesh, "IIX", optimizer=ADAMW),
        "axes": lambda: wrap(Net(), turned),
        "some": lambda: wrap(Net(), DeviceMesh(
            "cpu", torch.tensor([[0, 2], [1, 3]]), mesh_dim_names=("inter", "intra"))),
        "device": lambda: wrap(meta, mesh),
        "shared": lambda: wrap(shared, mesh),
        "stranger": lambda: wrap(Net(), mesh, units=[nn.Linear(1, 1)]),
        "list": lambda: wrap(shared, mesh, units=[shared.blocks]),
        "frozen": lambda: wrap(frozen, mesh),
        "collectives": lambda: wrap(Net(), mesh, collectives=cast(Any, "ring")),
        "averaged": lambda: wrap(DistributedDataParallel(Net()), mesh),
        "split": lambda: wrap(split, mesh),
        "twice": lambda: wrap(wrap(Net(), mesh).model, mesh),
        "uneven": lambda: wrap(Net(), mesh, optimizer=torch.optim.Adafactor),
        "uneven at a small rate": lambda: wrap(
            Net(), mesh, optimizer=partial(torch.optim.Adafactor, lr=1e-9)),
        "another's": lambda: wrap(
            Net(), mesh, optimizer=lambda parts: ADAMW(frozen.requires_grad_().parameters())),
        "in part": lambda: wrap(Net(), mesh, optimizer=lambda parts: ADAMW(parts[:2])),
        "matrices": lambda: wrap(Net(), mesh, optimizer=torch.optim.Muon),
        "closure": lambda: wrap(Net(), mesh, optimizer=torch.optim.LBFGS),
    }  # fmt: skip


def test_each_is_told_on_every_rank() -> None:
    for told in on_ranks(tell_on_rank, 4):
        assert told.keys() == WANTED.keys()
        for name, start in WANTED.items():
            assert told[name].startswith(start)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("lr", [1e-9, 1e-4, 1.0, torch.tensor(1e-4)])
def test_whether_entries_are_treated_alike_shows_at_any_rate(dtype: Any, lr: Any) -> None:
    """Steps of a small rate are lost in the rounding of bfloat16, whoever takes them."""
    example = torch.zeros(1, dtype=dtype)
    refuse_uneven(partial(torch.optim.AdamW, lr=lr), example)
    with pytest.raises(SpecError, match="steps a matrix in another way than its parts"):
        refuse_uneven(partial(torch.optim.Adafactor, lr=lr), example)


def test_units_are_the_longest_list_and_the_rest() -> None:
    net = Net()
    parts = {part.name: list(part.params) for part in parts_of(net)}
    assert list(parts) == [REST, "blocks.0", "blocks.1"]
    assert parts[REST] == ["embed.weight"], "tied: once, by its first name"
    assert set().union(*parts.values()) == {name for name, _ in net.named_parameters()}


def test_units_may_lie_in_one_another() -> None:
    net = Net()
    chosen = [net.get_submodule(name) for name in ("blocks.1", "blocks.1.up")]
    parts = {part.name: list(part.params) for part in parts_of(net, chosen)}
    assert list(parts) == [REST, "blocks.1", "blocks.1.up"]
    assert parts["blocks.1.up"] == ["blocks.1.up.weight", "blocks.1.up.bias"]
    assert "blocks.1.down.weight" in parts["blocks.1"]
    assert "blocks.0.down.weight" in parts[REST]


def test_a_module_of_two_names_is_one_unit() -> None:
    net = Net()
    net.blocks[1] = net.blocks[0]
    assert [part.name for part in parts_of(net)] == [REST, "blocks.0"]


def test_a_model_without_a_list_is_one_unit() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    assert [(part.name, len(part.params)) for part in parts_of(net)] == [(REST, 4)]
