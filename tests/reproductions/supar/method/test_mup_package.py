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
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from reproductions.nets.gpt import GPT, GPTConfig
from reproductions.supar import (
    TABLE_3,
    Parameterization,
    Role,
    infer_roles,
    linear_layers,
    param_groups,
)

BASE_WIDTH = 32
VOCABULARY = 40
WIDTHS = (32, 160)


def _mup() -> Any:
    return pytest.importorskip("mup", reason="needs pip install --no-deps mup==1.0.0 (make setup)")


def _mup_table(width: int) -> Parameterization:
    return Parameterization(
        scheme="mup", width_multiplier=width / BASE_WIDTH, density=1.0, base=TABLE_3
    )


def _gpt(width: int) -> GPT:
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
        bias=True,
        embedding_multiplier=table.embedding_multiplier,
        logit_multiplier=table.logit_multiplier,
        attention_scale=table.attention_scale(16),
    )
    return GPT(config, generator=torch.Generator().manual_seed(0))


def _roles(model: GPT) -> dict[str, Role]:
    return infer_roles(model, linear_layers(model, exclude=()))


def _with_base_shapes(width: int) -> GPT:
    """Return a GPT that `mup` has measured against one of the base width."""
    # A base of equal width has no growing side by itself: the delta model tells which sides grow.
    base, delta = _gpt(BASE_WIDTH), _gpt(2 * BASE_WIDTH)
    return _mup().set_base_shapes(_gpt(width), base, delta=delta, rescale_params=False)


def _rates(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, float]:
    names = {parameter: name for name, parameter in model.named_parameters()}
    return {names[p]: group["lr"] for group in optimizer.param_groups for p in group["params"]}


@pytest.mark.parametrize("width", WIDTHS)
def test_learning_rates_are_those_of_mu_adamw(width: int) -> None:
    model, measured = _gpt(width), _with_base_shapes(width)
    groups = param_groups(
        model, _mup_table(width), _roles(model), weight_decay=0.0, decay="coupled"
    )
    ours = _rates(model, torch.optim.AdamW(groups))
    theirs = _rates(measured, _mup().MuAdamW(measured.parameters(), lr=TABLE_3.lr))
    assert ours == pytest.approx(theirs, rel=1e-15)
    assert {name.split(".")[-2] for name in ours} >= {"qkv", "out", "gate", "up", "down"}
    for name, rate in ours.items():
        hidden = name.startswith("blocks.") and name.endswith("weight") and "norm" not in name
        assert rate / TABLE_3.lr == pytest.approx(BASE_WIDTH / width if hidden else 1.0), name


@pytest.mark.parametrize("width", WIDTHS)
def test_initial_standard_deviations_are_those_of_mup(width: int) -> None:
    model, measured = _gpt(width), _with_base_shapes(width)
    _mup_table(width).initialize(model, _roles(model), torch.Generator().manual_seed(3))
    draws = torch.Generator().manual_seed(3)
    # mup's initializers take no generator: the global one is used, and put back afterwards.
    with torch.random.fork_rng(devices=[]):
        for (name, ours), theirs in zip(
            model.named_parameters(), measured.parameters(), strict=True
        ):
            if ours.ndim < 2:
                continue
            draw = torch.empty_like(ours).normal_(generator=draws)
            torch.manual_seed(5)
            _mup().init.normal_(theirs, std=TABLE_3.init_std)
            torch.manual_seed(5)
            their_draw = torch.empty_like(theirs).normal_()
            std = TABLE_3.init_std * (
                math.sqrt(BASE_WIDTH / width) if name.startswith("blocks.") else 1.0
            )
            torch.testing.assert_close(ours, std * draw, rtol=1e-5, atol=1e-7, msg=name)
            torch.testing.assert_close(theirs, std * their_draw, rtol=1e-5, atol=1e-7, msg=name)


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
