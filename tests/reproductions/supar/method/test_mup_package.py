"""Our muP beside Microsoft's `mup` package (1.0.0): the same GPT, the same ratios.

`mup` scales by the ratio of a model's shapes to those of a base model, parameter by parameter; we
scale by roles and one width multiplier. Both give, for the target over the base, a learning rate
and an initial standard deviation to every parameter, and a factor to the readout.

The readout is tied to the embedding in both, so it has no start and no rate of its own: `mup`'s
MuSharedReadout multiplies its input by output_mult / width_mult(), and our GPT its features by
alpha_output / m_d.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from reproductions.nets.gpt import GPT, GPTConfig
from reproductions.supar import (
    TABLE_3,
    Parameterization,
    infer_roles,
    linear_layers,
    param_groups,
)

BASE_WIDTH = 32
VOCABULARY = 40
WIDTHS = (32, 64, 160, 512)


def _mup() -> Any:
    return pytest.importorskip("mup", reason="needs pip install --no-deps mup==1.0.0 (make setup)")


def _mup_table(width: int) -> Parameterization:
    return Parameterization(
        scheme="mup", width_multiplier=width / BASE_WIDTH, density=1.0, base=TABLE_3
    )


def _gpt(width: int, *, bias: bool = True) -> GPT:
    table = _mup_table(width)
    config = GPTConfig(
        vocab_size=VOCABULARY,
        width=width,
        num_layers=2,
        head_size=16,
        context=24,
        feed_forward="swiglu",
        feed_forward_width=4 * width,
        positions="learned",
        bias=bias,
        embedding_multiplier=table.embedding_multiplier,
        logit_multiplier=table.logit_multiplier,
        attention_scale=table.attention_scale(16),
    )
    return GPT(config, generator=torch.Generator().manual_seed(0))


def _with_base_shapes(width: int) -> GPT:
    """Return a GPT that `mup` has measured against one of the base width."""
    # A base of equal width has no growing side by itself: the delta model tells which sides grow.
    base, delta = _gpt(BASE_WIDTH), _gpt(2 * BASE_WIDTH)
    return _mup().set_base_shapes(_gpt(width), base, delta=delta, rescale_params=False)


def _rates(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, float]:
    names = {parameter: name for name, parameter in model.named_parameters()}
    return {names[p]: group["lr"] for group in optimizer.param_groups for p in group["params"]}


def _our_rates(width: int) -> dict[str, float]:
    model = _gpt(width)
    roles = infer_roles(model, linear_layers(model, exclude=()))
    groups = param_groups(model, _mup_table(width), roles, weight_decay=0.0, decay="coupled")
    return _rates(model, torch.optim.AdamW(groups))


def _their_rates(width: int) -> dict[str, float]:
    model = _with_base_shapes(width)
    return _rates(model, _mup().MuAdamW(model.parameters(), lr=TABLE_3.lr))


@pytest.mark.parametrize("width", WIDTHS)
def test_learning_rates_are_those_of_mu_adamw(width: int) -> None:
    ours, theirs, base = _our_rates(width), _their_rates(width), _our_rates(BASE_WIDTH)
    assert ours.keys() == theirs.keys() == base.keys()
    assert {name.split(".")[-2] for name in ours} >= {"qkv", "out", "gate", "up", "down"}
    for name in ours:
        assert ours[name] == pytest.approx(theirs[name], rel=1e-15), name
        hidden = name.startswith("blocks.") and name.endswith("weight") and "norm" not in name
        assert ours[name] / base[name] == pytest.approx(BASE_WIDTH / width if hidden else 1.0), name


def _matrices(model: nn.Module) -> dict[str, Tensor]:
    return {name: p.detach() for name, p in model.named_parameters() if p.ndim >= 2}


def _scales(tensors: Mapping[str, Tensor], draws: Mapping[str, Tensor]) -> dict[str, float]:
    """Return the factor between equal draws, matrix by matrix."""
    factors = {}
    for name, tensor in tensors.items():
        draw = draws[name]
        factors[name] = float((tensor * draw).sum() / draw.square().sum())
        torch.testing.assert_close(tensor, factors[name] * draw, rtol=1e-5, atol=1e-7, msg=name)
    return factors


def _standard_draws(width: int) -> dict[str, Tensor]:
    """Return standard normal numbers in the order in which our initializer draws."""
    generator = torch.Generator().manual_seed(3)
    matrices = _matrices(_gpt(width))
    return {name: torch.empty_like(m).normal_(generator=generator) for name, m in matrices.items()}


def _our_stds(width: int) -> dict[str, float]:
    model = _gpt(width)
    roles = infer_roles(model, linear_layers(model, exclude=()))
    _mup_table(width).initialize(model, roles, torch.Generator().manual_seed(3))
    return _scales(_matrices(model), _standard_draws(width))


def _their_stds(width: int) -> dict[str, float]:
    model, draws = _with_base_shapes(width), {}
    # mup's initializers take no generator: the global one is used, and put back afterwards.
    with torch.random.fork_rng(devices=[]):
        for name, parameter in model.named_parameters():
            if parameter.ndim >= 2:
                torch.manual_seed(5)
                _mup().init.normal_(parameter, std=TABLE_3.init_std)
                torch.manual_seed(5)
                draws[name] = torch.empty_like(parameter).normal_()
    return _scales(_matrices(model), draws)


@pytest.mark.parametrize("width", WIDTHS)
def test_initial_standard_deviations_are_those_of_mup(width: int) -> None:
    ours, theirs, base = _our_stds(width), _their_stds(width), _our_stds(BASE_WIDTH)
    assert ours.keys() == theirs.keys() == base.keys()
    for name in ours:
        assert ours[name] == pytest.approx(theirs[name], rel=1e-5), name
        ratio = math.sqrt(BASE_WIDTH / width) if name.startswith("blocks.") else 1.0
        assert ours[name] / base[name] == pytest.approx(ratio, rel=1e-5), name


@pytest.mark.parametrize("width", WIDTHS)
def test_the_tied_readout_damps_as_mu_shared_readout_does(width: int) -> None:
    model = _with_base_shapes(width)
    readout = _mup().MuSharedReadout(
        model.tokens.weight, bias=False, output_mult=TABLE_3.output_multiplier
    )
    assert model.config.logit_multiplier == pytest.approx(
        readout.output_mult / readout.width_mult(), rel=1e-15
    )
    tokens_BT = torch.arange(VOCABULARY).view(2, -1)
    features: list[Tensor] = []
    model.final_norm.register_forward_hook(lambda _, __, output: features.append(output))
    logits_BTV = model(tokens_BT)
    torch.testing.assert_close(readout(features[0]), logits_BTV, rtol=1e-5, atol=1e-6)


def test_the_package_calls_the_same_parameters_hidden() -> None:
    model = _with_base_shapes(160)
    roles = infer_roles(model, linear_layers(model, exclude=()))
    growing = {"hidden": 2, "embedding": 1, "vector": 1}
    for name, parameter in model.named_parameters():
        assert parameter.infshape.ninf() == growing[roles[name]], name
