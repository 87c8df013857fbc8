"""Masks: how many weights they keep, and that nothing brings the others back."""

from __future__ import annotations

import gc
import math
import re
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from harness.errors import SpecError
from reproductions.supar import (
    TABLE_3,
    Parameterization,
    attach_full_masks,
    attach_mask,
    infer_roles,
    masked_layers,
    max_abs_masked,
    param_groups,
    restore_masks,
    sparsify,
)
from reproductions.supar.method.masks import draw_mask
from reproductions.supar.rules.rules_of_model import max_abs_masked_weight
from tests.reproductions.supar.masked_nets import adamw, mlp, sparse_mlp, train
from tests.reproductions.supar.small import zeros_under


@pytest.mark.parametrize("density", [1 / 3, 1 / 16])
@pytest.mark.parametrize("shape", [(48, 48), (7, 13)])
def test_exact_masks_keep_the_exact_count(shape: tuple[int, int], density: float) -> None:
    mask = draw_mask(shape, density, generator=torch.Generator(), pattern="exact")
    assert mask.shape == shape
    assert int(mask.sum()) == round(density * math.prod(shape))


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


@pytest.mark.parametrize(
    "make",
    [
        adamw,
        lambda model: torch.optim.SGD(
            model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1
        ),
        lambda model: torch.optim.RMSprop(model.parameters(), lr=0.01, momentum=0.9),
    ],
    ids=["adamw", "sgd", "rmsprop"],
)
def test_masked_weights_stay_exactly_zero(
    make: Callable[[nn.Module], torch.optim.Optimizer],
) -> None:
    model = sparse_mlp()
    before = model[2].weight.detach().clone()
    train(model, make(model))
    assert max_abs_masked(model) == 0.0
    assert max_abs_masked_weight(model) == 0.0
    for module in masked_layers(model).values():
        assert zeros_under(module.weight, module.weight_mask)
    kept = masked_layers(model)["2"].weight_mask
    assert bool((model[2].weight.detach()[kept] != before[kept]).all())


@pytest.mark.parametrize(
    ("words", "make", "changed"),
    [
        ("'0' has a mask already", sparse_mlp, {}),
        ("'9': no such layer", mlp, {"layers": ["0", "9"]}),
        ("need 0 < density <= 1", mlp, {"density": 1.5}),
        ("no density for layer '2'", mlp, {"layers": ["0", "2"], "density": {"0": 0.5}}),
        ("density names '4'", mlp, {"density": {"0": 0.5, "4": 0.5}}),
        ("by a torch.Generator on the CPU", mlp, {"generator": 3}),
        # For the first layer there is a mask by then.
        ("keeps none", mlp, {"layers": ["0", "2"], "density": {"0": 0.5, "2": 1e-9}}),
        ("after LazyLinear's first batch", lambda: nn.Sequential(nn.LazyLinear(4)), {}),
    ],
)
def test_what_can_have_no_mask_is_refused_and_nothing_changes(
    words: str, make: Callable[[], nn.Module], changed: dict[str, Any]
) -> None:
    """Further refusals are tried by `tests/composes`, which the page quotes."""
    model = make()
    before = {name: (type(m), list(vars(m))) for name, m in model.named_modules()}
    given = {"layers": ["0"], "density": 0.5, "generator": torch.Generator()}
    with pytest.raises(SpecError, match=re.escape(words)):
        sparsify(model, **{**given, **changed})
    assert {name: (type(m), list(vars(m))) for name, m in model.named_modules()} == before


def test_a_mask_of_ones_own_is_attached() -> None:
    model, mask = mlp(), torch.eye(48, dtype=torch.uint8)
    attach_mask(model, "2", mask)
    mask.zero_()
    train(model, adamw(model))
    assert model[2].weight.count_nonzero() == 48
    for words, attempt in {
        "mask of shape (2, 2) for a weight": lambda: attach_mask(model, "0", torch.ones(2, 2)),
        "holds no mask": lambda: restore_masks(model, mlp().state_dict()),
    }.items():
        with pytest.raises(SpecError, match=re.escape(words)):
            attempt()


def test_masks_are_restored_from_a_state() -> None:
    trained = sparse_mlp()
    train(trained, adamw(trained))
    state, model = trained.state_dict(), mlp()
    assert model.load_state_dict(state, strict=False).unexpected_keys
    restore_masks(model, state)
    assert list(masked_layers(model)) == ["0", "2"]
    assert torch.equal(model(torch.ones(2, 10)), trained(torch.ones(2, 10)))
    for net in (model, trained):
        train(net, adamw(net))
    assert all(torch.equal(model.state_dict()[n], v) for n, v in trained.state_dict().items())


def _groups(model: nn.Module, density: float) -> None:
    table = Parameterization(scheme="supar", width_multiplier=1.0, density=density, base=TABLE_3)
    roles = infer_roles(model, ["0", "2"], embeddings=["4"])
    param_groups(model, table, roles, weight_decay=0.0, decay="coupled")


def test_rules_of_a_sparse_net_are_refused_for_a_dense_one() -> None:
    model, trained = mlp(), sparse_mlp(0.25)
    model.load_state_dict(trained.state_dict(), strict=False)
    with pytest.raises(SpecError, match="layer '0' has no mask"):
        _groups(model, 0.25)
    restore_masks(model, trained.state_dict())
    _groups(model, 0.25)
    # Of masks that a state brought, or that are to change, no density is known.
    _groups(model, 0.5)
    pruned_later = mlp()
    attach_full_masks(pruned_later, ["0", "2"])
    _groups(pruned_later, 0.25)


def test_a_masked_layer_is_freed_with_its_model() -> None:
    def build_and_use() -> tuple[weakref.ref[nn.Module], weakref.ref[torch.Tensor]]:
        model = nn.Sequential(nn.Linear(8, 8))
        sparsify(model, layers=["0"], density=0.5, generator=torch.Generator().manual_seed(0))
        model(torch.ones(1, 8)).sum().backward()
        return weakref.ref(model[0]), weakref.ref(model[0].weight)

    layer, weight = build_and_use()
    gc.collect()
    assert layer() is None and weight() is None
