"""Masks: how many weights they keep, and that nothing brings the others back."""

from __future__ import annotations

import copy
import gc
import math
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from harness.errors import SpecError
from reproductions.nets.gpt import draw_normal
from reproductions.supar import linear_layers, masked_layers, max_abs_masked, sparsify
from reproductions.supar.method.masks import draw_mask
from reproductions.supar.rules.rules_of_model import max_abs_masked_weight
from tests.reproductions.supar.small import zeros_under


def _mlp(width: int = 48) -> nn.Sequential:
    model = nn.Sequential(
        nn.Linear(10, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 3)
    )
    draw_normal(model, std=0.2, generator=torch.Generator().manual_seed(7))
    return model


def _sparse_mlp(density: float = 0.25, *, seed: int = 0) -> nn.Sequential:
    model = _mlp()
    generator = torch.Generator().manual_seed(seed)
    sparsify(model, layers=["0", "2"], density=density, generator=generator)
    return model


def _train(model: nn.Module, optimizer: torch.optim.Optimizer, num_steps: int = 20) -> None:
    generator = torch.Generator().manual_seed(1)
    for _ in range(num_steps):
        inputs = torch.randn(16, 10, generator=generator)
        optimizer.zero_grad()
        (model(inputs) - inputs[:, :3]).square().mean().backward()
        optimizer.step()


def _adamw(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.5)


@pytest.mark.parametrize("density", [1 / 2, 1 / 3, 1 / 16, 0.001])
@pytest.mark.parametrize("shape", [(48, 48), (7, 13), (1, 5)])
def test_exact_masks_keep_the_exact_count(shape: tuple[int, int], density: float) -> None:
    mask = draw_mask(shape, density, generator=torch.Generator(), pattern="exact")
    assert mask.shape == shape
    assert int(mask.sum()) == round(density * math.prod(shape))


def test_bernoulli_masks_keep_the_count_on_average() -> None:
    generator = torch.Generator().manual_seed(0)
    counts = [
        int(draw_mask((100, 100), 0.25, generator=generator, pattern="bernoulli").sum())
        for _ in range(50)
    ]
    # 50 binomial counts: mean 2500 within 4 standard errors, spread near sqrt(1875) = 43.3.
    mean = sum(counts) / 50
    spread = math.sqrt(sum((count - mean) ** 2 for count in counts) / 49)
    assert abs(mean - 2500) < 4 * 43.3 / math.sqrt(50)
    assert 25 < spread < 65


@pytest.mark.parametrize("pattern", ["exact", "bernoulli"])
def test_every_entry_is_kept_equally_often(pattern: str) -> None:
    generator = torch.Generator().manual_seed(0)
    total = sum(
        draw_mask((6, 6), 0.25, generator=generator, pattern=pattern).double()  # type: ignore[arg-type]
        for _ in range(2000)
    )
    # Binomial(2000, 1/4): standard deviation 19.4; 36 entries within 4.5 of them.
    assert float((total - 500).abs().max()) < 88


@pytest.mark.parametrize("pattern", ["exact", "bernoulli"])
def test_masks_of_one_seed_are_nested(pattern: str) -> None:
    dense, sparse = (
        draw_mask((32, 32), rho, generator=torch.Generator().manual_seed(4), pattern=pattern)  # type: ignore[arg-type]
        for rho in (1 / 2, 1 / 16)
    )
    assert bool((dense | ~sparse).all())


def test_masks_differ_by_layer_and_seed_and_not_by_global_state() -> None:
    torch.manual_seed(1)
    first = _sparse_mlp()
    torch.manual_seed(2)
    same, other = _sparse_mlp(), _sparse_mlp(seed=1)
    masks = [{n: m.weight_mask for n, m in masked_layers(net).items()} for net in (first, same)]
    assert all(torch.equal(masks[0][name], masks[1][name]) for name in ("0", "2"))
    assert not torch.equal(masks[0]["2"], masked_layers(other)["2"].weight_mask)
    assert list(masks[0]) == ["0", "2"]


@pytest.mark.parametrize(
    "make",
    [
        _adamw,
        lambda model: torch.optim.AdamW(model.parameters(), lr=0.05, fused=True),
        lambda model: torch.optim.SGD(
            model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1
        ),
        lambda model: torch.optim.RMSprop(model.parameters(), lr=0.01, momentum=0.9),
    ],
    ids=["adamw", "fused", "sgd", "rmsprop"],
)
def test_masked_weights_stay_exactly_zero(
    make: Callable[[nn.Module], torch.optim.Optimizer],
) -> None:
    model = _sparse_mlp()
    before = model[2].weight.detach().clone()
    _train(model, make(model))
    assert max_abs_masked(model) == 0.0
    assert max_abs_masked_weight(model) == 0.0
    for module in masked_layers(model).values():
        assert zeros_under(module.weight, module.weight_mask)
    kept = masked_layers(model)["2"].weight_mask
    assert bool((model[2].weight.detach()[kept] != before[kept]).all())


def test_without_the_hook_they_would_not() -> None:
    model = _sparse_mlp()
    masks = {name: module.weight_mask.clone() for name, module in masked_layers(model).items()}
    plain = _mlp()
    plain.load_state_dict({k: v for k, v in model.state_dict().items() if "mask" not in k})
    _train(plain, _adamw(plain))
    assert not zeros_under(plain[2].weight, masks["2"])


def test_accumulated_gradients_stay_masked() -> None:
    model = _sparse_mlp()
    for _ in range(3):
        model(torch.ones(4, 10)).square().sum().backward()
    gradient = model[2].weight.grad
    assert gradient is not None
    assert zeros_under(gradient, masked_layers(model)["2"].weight_mask)
    assert float(gradient.abs().sum()) > 0.0


def test_a_restored_checkpoint_brings_its_masks(tmp_path: Path) -> None:
    model = _sparse_mlp(seed=0)
    _train(model, _adamw(model))
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    other = _sparse_mlp(seed=1)
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    _train(other, _adamw(other))
    for name, module in masked_layers(other).items():
        assert torch.equal(module.weight_mask, masked_layers(model)[name].weight_mask)
        assert zeros_under(module.weight, module.weight_mask)


def test_a_dense_net_refuses_a_sparse_checkpoint() -> None:
    with pytest.raises(RuntimeError, match="weight_mask"):
        _mlp().load_state_dict(_sparse_mlp().state_dict())


@pytest.mark.parametrize("how", ["deepcopy", "assign", "double"])
def test_masks_survive_a_changed_parameter(how: str) -> None:
    model = _sparse_mlp()
    if how == "deepcopy":
        model = copy.deepcopy(model)
    elif how == "assign":
        state = {name: value.clone() for name, value in _sparse_mlp(seed=3).state_dict().items()}
        model.load_state_dict(state, assign=True)
    else:
        model = model.double().float()
    _train(model, _adamw(model))
    assert max_abs_masked(model) == 0.0
    assert len(masked_layers(model)) == 2


def test_density_1_leaves_a_layer_alone() -> None:
    model = _mlp()
    before = model[0].weight.detach().clone()
    sparsify(model, layers=["0"], density=1.0, generator=torch.Generator())
    assert not masked_layers(model)
    assert torch.equal(model[0].weight, before)
    assert max_abs_masked(model) == 0.0


def test_impossible_layers_are_refused_and_nothing_changes() -> None:
    model = _mlp()
    before = copy.deepcopy(model.state_dict())
    generator = torch.Generator()
    for layers, complaint in [
        (["0", "1"], "only nn.Linear"),
        (["0", "9"], "no such layer"),
    ]:
        with pytest.raises(SpecError, match=complaint):
            sparsify(model, layers=layers, density=0.5, generator=generator)
    with pytest.raises(SpecError, match="0 < density <= 1"):
        sparsify(model, layers=["0"], density=1.5, generator=generator)
    with pytest.raises(SpecError, match="no density for layer '2'"):
        sparsify(model, layers=["0", "2"], density={"0": 0.5}, generator=generator)
    with pytest.raises(SpecError, match="'exact' or 'bernoulli'"):
        sparsify(model, layers=["0"], density=0.5, generator=generator, pattern="block")  # type: ignore[arg-type]
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    sparsify(model, layers=["0"], density=0.5, generator=generator)
    with pytest.raises(SpecError, match="already"):
        sparsify(model, layers=["0"], density=0.5, generator=generator)


def test_a_tied_weight_is_refused() -> None:
    model = nn.ModuleDict({"embed": nn.Embedding(5, 4), "head": nn.Linear(4, 5, bias=False)})
    model["head"].weight = model["embed"].weight
    with pytest.raises(SpecError, match="shares its weight"):
        sparsify(model, layers=["head"], density=0.5, generator=torch.Generator())


def test_linear_layers_are_named_in_order() -> None:
    assert linear_layers(_mlp(), exclude=["4"]) == ["0", "2"]
    with pytest.raises(SpecError, match="no linear layer"):
        linear_layers(_mlp(), exclude=["readout"])


def test_a_masked_layer_is_freed_with_its_model() -> None:
    def build_and_use() -> tuple[weakref.ref[nn.Module], weakref.ref[torch.Tensor]]:
        model = nn.Sequential(nn.Linear(8, 8))
        sparsify(model, layers=["0"], density=0.5, generator=torch.Generator().manual_seed(0))
        model(torch.ones(1, 8)).sum().backward()
        return weakref.ref(model[0]), weakref.ref(model[0].weight)

    layer, weight = build_and_use()
    gc.collect()
    assert layer() is None and weight() is None
