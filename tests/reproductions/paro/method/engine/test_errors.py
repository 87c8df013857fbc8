"""What cannot be trained, and what a loop gets wrong, is told in a sentence on every rank.

`tests/composes` tries the sentences that the method's page shows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from harness.errors import RunError, SpecError
from reproductions.paro.method.engine import Paro, Precision, mesh_of_groups
from reproductions.paro.method.engine.refusals import refuse_uneven
from reproductions.paro.method.engine.units import REST, parts_of
from reproductions.paro.models.gloo_ranks import on_ranks
from tests.reproductions.paro.method.engine.nets import ADAMW, Net, loss_of, micro_batch

WRAP = partial(Paro, strategy="IIG", optimizer=ADAMW)


class Hidden(Net):
    """A net whose output is in an object of its own."""

    def forward(self, tokens: Tensor) -> Any:
        return SimpleNamespace(logits=super().forward(tokens))


def added(mesh: DeviceMesh) -> None:
    engine = WRAP(Net(), mesh)
    engine.backward(loss_of(engine.model, micro_batch(0, 0, 0)))
    engine.model.get_submodule("blocks.0").extra = nn.Parameter(torch.zeros(2))
    engine.step()


def outside(mesh: DeviceMesh) -> None:
    engine = WRAP(Net(), mesh, strategy="NIG")
    engine.backward(engine.model.get_parameter("blocks.1.up.bias").sum())
    engine.step()


def written_over(mesh: DeviceMesh) -> None:
    half = Precision(param_dtype=torch.bfloat16)
    WRAP(Net(), mesh, strategy="NNG", precision=half).model.load_state_dict(Net().state_dict())


def of_a_list(mesh: DeviceMesh) -> None:
    net = Net()
    WRAP(net, mesh, units=[net.blocks])


REFUSED: dict[str, Callable[[DeviceMesh], object]] = {
    "a mesh with axes ('intra', 'inter')": lambda mesh: WRAP(
        Net(), init_device_mesh("cpu", (2, 2), mesh_dim_names=("intra", "inter"))),
    "a mesh of some ranks, or out of order": lambda mesh: WRAP(Net(), DeviceMesh(
        "cpu", torch.tensor([[0, 2], [1, 3]]), mesh_dim_names=("inter", "intra"))),
    "parameter embed.weight is on meta, the mesh on cpu: move the model there first": lambda mesh:
        WRAP(Net().to("meta"), mesh),
    "a unit that is not in the model: Linear": lambda mesh:
        WRAP(Net(), mesh, units=[nn.Linear(1, 1)]),
    "unit blocks is a list of modules, which no pass calls: name its entries": of_a_list,
    "a model without a parameter to train": lambda mesh: WRAP(Net().requires_grad_(False), mesh),
    "collectives='ring': one of flat, two-layer": lambda mesh:
        WRAP(Net(), mesh, collectives="ring"),  # type: ignore[arg-type]
    "parameter blocks.0.extra was added after the model was wrapped": added,
    "parameter blocks.1.up.bias has a gradient from outside its unit's forward pass": outside,
    "optimizer made one over other tensors than the parts": lambda mesh:
        WRAP(Net(), mesh, optimizer=lambda parts: ADAMW(parts[:2])),
    "a state dict loaded into a wrapped model would be lost at the next step": written_over,
    "unit the rest returned a SimpleNamespace, in which no tensor is found": lambda mesh:
        WRAP(Hidden(), mesh).model(micro_batch(0, 0, 0)),
}  # fmt: skip


def tell_on_rank() -> list[str]:
    told = []
    for each in REFUSED.values():
        with pytest.raises(SpecError) as raised:
            each(mesh_of_groups(2))
        told.append(str(raised.value))
    return told


def test_each_is_told_on_every_rank() -> None:
    for rank in on_ranks(tell_on_rank, 4):
        for start, told in zip(REFUSED, rank, strict=True):
            assert told.startswith(start)


class Normed(nn.Module):
    """Batch norm between layers, and a mask of infinities as attention has it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(2))
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("mask", torch.full((2, 2), -torch.inf).triu(1))

    def forward(self, x: Tensor) -> Tensor:
        first, second = self.layers
        out: Tensor = second(self.norm(first(x)))
        return out


def overflow_on_rank() -> list[str]:
    """Return what is told of a batch of one rank alone that overflows, and of a loss that does."""
    told = []
    # The loss first, whose buffers are finite.
    for inputs, loss in ((1.0, torch.inf), (torch.inf, 1.0)):
        engine = WRAP(Normed(), mesh_of_groups(2))
        batch = torch.arange(6.0).view(3, 2) * (inputs if dist.get_rank() == 1 else 1.0)
        engine.backward(engine.model(batch).square().mean() * loss)
        with pytest.raises(RunError) as raised:
            engine.step()
        told.append(str(raised.value))
    return told


def test_buffers_that_a_batch_has_spoilt_are_named() -> None:
    for rank, (of_loss, of_batch) in enumerate(on_ranks(overflow_on_rank, 4)):
        assert "nothing was changed; look" in of_loss
        spoilt = (
            " but this rank's norm.running_mean, norm.running_var, not finite" if rank == 1 else ";"
        )
        assert f"nothing was changed{spoilt}" in of_batch


@pytest.mark.parametrize(
    ("dtype", "lr"), [(torch.bfloat16, 1e-9), (torch.float32, torch.tensor(1e-4))]
)
def test_whether_entries_are_treated_alike_shows_at_any_rate(dtype: Any, lr: Any) -> None:
    """Steps of a small rate are lost in the rounding of bfloat16, whoever takes them."""
    example = torch.zeros(1, dtype=dtype)
    refuse_uneven(partial(torch.optim.AdamW, lr=lr), example)
    with pytest.raises(SpecError, match="steps a matrix in another way than its parts"):
        refuse_uneven(partial(torch.optim.Adafactor, lr=lr), example)


class Whitening(torch.optim.SGD):
    """Steps a matrix by its directions, as Muon does, and a vector as SGD."""

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for param in self.param_groups[0]["params"]:
            if param.ndim == 2:
                left, _, right = torch.linalg.svd(param.grad)
                param.grad = left @ right
        super().step(closure)


class DecayingMatrices(torch.optim.SGD):
    """Lets matrices decay and vectors not."""

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for param in self.param_groups[0]["params"]:
            if param.ndim > 1:
                param.grad = param.grad + 0.1 * param.detach()
        super().step(closure)


@pytest.mark.parametrize("kind", [Whitening, DecayingMatrices])
def test_a_rule_for_matrices_is_not_lost_in_silence(kind: Callable[..., Any]) -> None:
    refuse_uneven(partial(torch.optim.SGD, lr=1e-3, momentum=0.9), torch.zeros(1))
    with pytest.raises(SpecError, match="steps a matrix in another way than its parts"):
        refuse_uneven(partial(kind, lr=1e-3), torch.zeros(1))


def test_units_are_the_longest_list_and_the_rest() -> None:
    net = Net()
    parts = {part.name: list(part.params) for part in parts_of(net)}
    assert list(parts) == [REST, "blocks.0", "blocks.1"]
    assert parts[REST] == ["embed.weight"], "tied: once, by its first name"
    assert set().union(*parts.values()) == {name for name, _ in net.named_parameters()}
    chosen = [net.get_submodule(name) for name in ("blocks.1", "blocks.1.up")]
    parts = {part.name: list(part.params) for part in parts_of(net, chosen)}
    assert parts["blocks.1.up"] == ["blocks.1.up.weight", "blocks.1.up.bias"]
    assert "blocks.1.down.weight" in parts["blocks.1"]
    assert "blocks.0.down.weight" in parts[REST]
