"""Our GaLore beside its authors' package, beside AdamW in rotated coordinates, and by its bytes."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from harness.errors import RunError, SpecError
from harness.measure.memory import optimizer_tensors, storage_bytes
from reproductions.kernels.adamw.optimizer import KernelAdamW
from reproductions.lisa.method.galore import GaloreAdamW, projector
from reproductions.lisa.method.methods import Galore
from tests.reproductions.lisa.small import adamw, assert_resumes, llama

RANK, GAP, SCALE = 3, 4, 0.25
ADAM: dict[str, Any] = {"lr": 1e-2, "betas": (0.8, 0.95), "weight_decay": 0.0}
PROJECTION = {"rank": RANK, "update_gap": GAP, "scale": SCALE}
WIDTHS = (12, 5, 9, 9, 4)
"""Layers that are wide, tall, square and tall again in the weight's (outputs, inputs)."""


def net(*, seed: int = 0) -> nn.Sequential:
    """Return linear layers of every shape, with biases, and the same weights for a seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layers = [nn.Linear(inputs, outputs) for inputs, outputs in pairwise(WIDTHS)]
        return nn.Sequential(*(part for layer in layers for part in (layer, nn.Tanh())))


def examples(count: int) -> Iterator[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(3)
    for _ in range(count):
        yield tuple(torch.randn(16, size, generator=generator) for size in (WIDTHS[0], WIDTHS[-1]))  # type: ignore[misc]


def fit(
    model: nn.Module, optimizer: torch.optim.Optimizer, data: Iterator[tuple[Tensor, Tensor]]
) -> None:
    for inputs, targets in data:
        optimizer.zero_grad()
        (model(inputs) - targets).square().sum().backward()
        optimizer.step()


def parts(model: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    matrices = [p for p in model.parameters() if p.dim() == 2]
    return matrices, [p for p in model.parameters() if p.dim() == 1]


def ours(model: nn.Module, *, decay: float = 0.1) -> GaloreAdamW:
    matrices, biases = parts(model)
    projected = {"params": matrices, **PROJECTION, "weight_decay": decay}
    return GaloreAdamW([projected, {"params": biases}], eps=1e-15, **ADAM)


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a maker of the authors' optimizer with our settings.

    The package is entered past its __init__, which needs bitsandbytes for an 8-bit variant.
    """
    found = importlib.util.find_spec("galore_torch")
    if found is None:
        pytest.skip("needs pip install --no-deps galore-torch==1.0 (make setup)")
    package = types.ModuleType("galore_torch")
    package.__path__ = list(found.submodule_search_locations or ())
    monkeypatch.setitem(sys.modules, "galore_torch", package)
    theirs = importlib.import_module("galore_torch.adamw").AdamW

    def make(model: nn.Module) -> torch.optim.Optimizer:
        matrices, biases = parts(model)
        told = {"rank": RANK, "update_proj_gap": GAP, "scale": SCALE, "proj_type": "std"}
        projected = {"params": matrices, **told, "weight_decay": 0.1}
        # Epsilon stands elsewhere in theirs; this one is nothing in both.
        return theirs([projected, {"params": biases}], eps=1e-15, no_deprecation_warning=True,
                      **ADAM)  # type: ignore[no-any-return]  # fmt: skip

    return make


def test_weights_go_where_the_authors_package_takes_them(peer: Any) -> None:
    mine, theirs, plain = net(), net(), net()
    optimizers = ours(mine), peer(theirs), torch.optim.AdamW(plain.parameters(), **ADAM)
    # Over three decompositions.
    for data in examples(2 * GAP + 3):
        for model, optimizer in zip((mine, theirs, plain), optimizers, strict=True):
            fit(model, optimizer, iter([data]))
        for (name, value), other in zip(mine.named_parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(value, other, rtol=1e-5, atol=1e-5, msg=name)
    assert not torch.allclose(mine[0].weight, plain[0].weight, atol=1e-2)


def test_bytes_are_the_closed_form_and_the_authors_keep_whole_factors(peer: Any) -> None:
    mine, theirs = net(), net()
    optimizer, other = ours(mine), peer(theirs)
    fit(mine, optimizer, examples(2))
    fit(theirs, other, examples(2))
    shapes = [sorted(weight.shape) for weight in parts(mine)[0]]
    moments = sum(2 * RANK * longer for _, longer in shapes)
    moments += sum(2 * bias.numel() for bias in parts(mine)[1])
    num_steps = len(list(mine.parameters()))
    projectors = sum(RANK * shorter for shorter, _ in shapes)
    found = storage_bytes(optimizer_tensors(optimizer))
    assert found == 4 * (moments + projectors + num_steps)
    bases = [state["projector"].ortho_matrix for state in other.state.values() if
             "projector" in state]  # fmt: skip
    kept = storage_bytes([*optimizer_tensors(other), *bases])
    # Their counters are plain numbers.
    assert kept == 4 * (moments + sum(shorter**2 for shorter, _ in shapes))


@pytest.mark.parametrize("shape", [(7, 4), (4, 7)])
def test_full_rank_is_adamw_in_the_first_gradient_s_coordinates(shape: tuple[int, int]) -> None:
    """W = U V^T (or V U) with V fixed by the first gradient: AdamW on U moves W alike."""
    generator = torch.Generator().manual_seed(0)
    start, target = (torch.randn(shape, generator=generator, dtype=torch.float64) for _ in "ab")

    def loss(weight: Tensor) -> Tensor:
        return (weight - target).pow(4).sum()

    weight = nn.Parameter(start.clone())
    group = {"params": [weight], "rank": min(shape), "update_gap": 10**6, "scale": 1.0}
    optimizer = GaloreAdamW([group], eps=1e-8, **ADAM)
    gradient = torch.autograd.grad(loss(weight), weight)[0]
    left, _, right = torch.linalg.svd(gradient)
    tall = shape[0] >= shape[1]
    rotated = nn.Parameter(start @ right.T if tall else left.T @ start)
    plain = torch.optim.AdamW([rotated], eps=1e-8, **ADAM)
    for _ in range(30):
        for each, value in ((optimizer, weight), (plain, rotated)):
            each.zero_grad()
            back = value if value is weight else (value @ right if tall else left @ value)
            loss(back).backward()
            each.step()
    expected = rotated @ right if tall else left @ rotated
    torch.testing.assert_close(weight, expected, rtol=1e-9, atol=1e-9)
    assert not torch.allclose(weight, start, atol=0.1)


@pytest.mark.parametrize("shape", [(9, 4), (4, 9)])
def test_a_projector_keeps_what_no_other_of_its_rank_exceeds(shape: tuple[int, int]) -> None:
    generator = torch.Generator().manual_seed(0)
    gradient = torch.randn(shape, generator=generator)
    basis = projector(gradient, 2)
    kept = gradient @ basis.T if shape[0] >= shape[1] else basis.T @ gradient
    values = torch.linalg.svdvals(gradient.double())
    assert float(kept.norm()) == pytest.approx(float(values[:2].norm()), rel=1e-5)
    assert basis.untyped_storage().nbytes() == 4 * basis.numel() == 4 * 2 * min(shape)


@pytest.mark.parametrize("shape", [(9, 4), (1, 5)])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_gradient_that_is_not_finite_is_refused_before_weights_move(
    shape: tuple[int, int], value: float
) -> None:
    """Of an infinite row some libraries find singular vectors, which are finite."""
    weight = nn.Parameter(torch.zeros(shape))
    weight.grad = torch.ones(shape)
    weight.grad[0, 0] = value
    optimizer = GaloreAdamW([{"params": [weight], **PROJECTION}], eps=1e-8, **ADAM)
    with pytest.raises(RunError, match="that is not finite"):
        optimizer.step()
    assert not weight.any()


def test_resumed_equals_uninterrupted() -> None:
    method = Galore(rank=RANK, update_gap=GAP, scale=SCALE)
    assert_resumes(
        lambda m: method.prepare(m, lambda _: adamw(m)).optimizer, steps=3 * GAP, stop=GAP + 2
    )


@pytest.mark.parametrize("kind", [torch.optim.AdamW, KernelAdamW])
def test_the_method_projects_the_blocks_linear_layers_and_keeps_each_group_s_options(
    kind: Callable[..., torch.optim.Optimizer],
) -> None:
    """Of the AdamW that recipes make on a GPU too."""
    model = llama()
    made = kind(
        [
            {"params": g["params"], "weight_decay": g["weight_decay"]}
            for g in adamw(model).param_groups
        ],
        lr=1e-2,
    )
    optimizer = Galore(rank=RANK).prepare(model, lambda _: made).optimizer
    names = {id(p): name for name, p in model.named_parameters()}
    found = {names[id(p)]: group for group in optimizer.param_groups for p in group["params"]}
    assert len(found) == len(names)
    for name, group in found.items():
        linear = "layers" in name and "norm" not in name
        assert ("rank" in group) == linear, name
        assert group["weight_decay"] == (0.0 if "norm" in name else 0.1), name
        assert group["lr"] == 1e-2
    assert optimizer.param_groups[0]["update_gap"] == 200
    assert optimizer.param_groups[0]["scale"] == 0.25


class Signed(torch.optim.AdamW):
    """Another rule under AdamW's name."""


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda ps: torch.optim.AdamW(ps, maximize=True), "has no maximize"),
        (lambda ps: torch.optim.AdamW([{"params": [*ps], "amsgrad": True}]), "has no amsgrad"),
        (Signed, "the optimizer is Signed"),
        (torch.optim.Adam, "the optimizer is Adam$"),
    ],
)
def test_an_optimizer_whose_update_is_another_one_is_refused(make: Any, told: str) -> None:
    with pytest.raises(SpecError, match=told):
        Galore(rank=RANK).prepare(llama(), make)


@pytest.mark.parametrize("changed", [{"rank": 0}, {"params": [nn.Parameter(torch.ones(3))]}])
def test_a_group_that_cannot_be_projected_is_refused(changed: dict[str, Any]) -> None:
    group = {"params": [nn.Parameter(torch.ones(3, 2))], **PROJECTION, **changed}
    with pytest.raises(SpecError, match="need"):
        GaloreAdamW([group], eps=1e-8, **ADAM)
