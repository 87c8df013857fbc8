"""The GPT against counts, a plain float64 forward pass, and transformers' GPT-2."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.nets.gpt import (
    GPT,
    GPTConfig,
    alibi_bias,
    alibi_slopes,
    next_token_loss,
    num_params,
)

SMALL = GPTConfig(
    vocab_size=11,
    width=12,
    num_layers=2,
    head_size=4,
    context=7,
    feed_forward="gelu",
    feed_forward_width=20,
    positions="learned",
    bias=True,
    embedding_multiplier=3.0,
    logit_multiplier=0.7,
    attention_scale=0.25,
)


def _build(config: GPTConfig) -> GPT:
    model = GPT(config, generator=torch.Generator().manual_seed(0))
    shake = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            # Norms and biases too, so that a forgotten one shows.
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=shake))
    return model


def _tokens(config: GPTConfig, shape: tuple[int, int] = (3, 7)) -> Tensor:
    return torch.randint(config.vocab_size, shape, generator=torch.Generator().manual_seed(9))


VARIANTS = [
    replace(SMALL, feed_forward=feed_forward, positions=positions, bias=bias)
    for feed_forward, positions, bias in itertools.product(
        ("gelu", "swiglu"), ("learned", "alibi"), (True, False)
    )
]


@pytest.mark.parametrize("config", VARIANTS, ids=str)
def test_parameter_count_is_the_closed_form(config: GPTConfig) -> None:
    model = GPT(config, generator=torch.Generator(), device="meta")
    assert sum(p.numel() for p in model.parameters()) == num_params(config)


def test_parameter_count_by_hand() -> None:
    config = replace(SMALL, bias=False, feed_forward_width=48)
    expected = 12 * 2 * 12**2 + (11 + 7) * 12 + 5 * 12
    assert num_params(config) == expected


@pytest.mark.parametrize("config", VARIANTS, ids=str)
def test_forward_equals_plain_float64(config: GPTConfig) -> None:
    model = _build(config)
    tokens_BT = _tokens(config)
    found = model(tokens_BT).detach().double().numpy()
    weights = {name: p.detach().double().numpy() for name, p in model.named_parameters()}
    expected = np.stack([_plain_forward(config, weights, row) for row in tokens_BT.numpy()])
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


def _plain_forward(config: GPTConfig, w: dict[str, np.ndarray], tokens: np.ndarray) -> np.ndarray:
    """Compute the logits of one sequence, head by head and query by query."""
    count = len(tokens)
    x = w["tokens.weight"][tokens]
    if config.positions == "learned":
        x = x + w["positions.weight"][:count]
    x = x * config.embedding_multiplier
    for layer in range(config.num_layers):
        block = f"blocks.{layer}"
        x = x + _plain_attention(config, w, f"{block}.attention", _norm(w, block, "attention", x))
        x = x + _plain_feed_forward(w, f"{block}.feed_forward", _norm(w, block, "feed_forward", x))
    x = _layer_norm(x, w["final_norm.weight"], w.get("final_norm.bias", 0.0))
    return config.logit_multiplier * (x @ w["tokens.weight"].T)


def _plain_attention(
    config: GPTConfig, w: dict[str, np.ndarray], name: str, x: np.ndarray
) -> np.ndarray:
    size, width = config.head_size, config.width
    qkv = x @ w[f"{name}.qkv.weight"].T + w.get(f"{name}.qkv.bias", 0.0)
    joined = np.zeros_like(x)
    for head in range(config.num_heads):
        here = slice(head * size, (head + 1) * size)
        q, k, v = (qkv[:, start : start + width][:, here] for start in (0, width, 2 * width))
        for i in range(len(x)):
            scores = k[: i + 1] @ q[i] * config.attention_scale
            if config.positions == "alibi":
                slope = float(alibi_slopes(config.num_heads)[head])
                scores = scores - slope * (i - np.arange(i + 1))
            shares = np.exp(scores - scores.max())
            joined[i, here] = shares @ v[: i + 1] / shares.sum()
    return joined @ w[f"{name}.out.weight"].T + w.get(f"{name}.out.bias", 0.0)


def _plain_feed_forward(w: dict[str, np.ndarray], name: str, x: np.ndarray) -> np.ndarray:
    up = x @ w[f"{name}.up.weight"].T + w.get(f"{name}.up.bias", 0.0)
    if f"{name}.gate.weight" in w:
        gate = x @ w[f"{name}.gate.weight"].T + w.get(f"{name}.gate.bias", 0.0)
        hidden = gate / (1.0 + np.exp(-gate)) * up
    else:
        hidden = up * 0.5 * (1.0 + np.vectorize(math.erf)(up / math.sqrt(2.0)))
    return hidden @ w[f"{name}.down.weight"].T + w.get(f"{name}.down.bias", 0.0)


def _norm(w: dict[str, np.ndarray], block: str, branch: str, x: np.ndarray) -> np.ndarray:
    name = f"{block}.{branch}_norm"
    return _layer_norm(x, w[f"{name}.weight"], w.get(f"{name}.bias", 0.0))


def _layer_norm(x: np.ndarray, gain: np.ndarray, bias: np.ndarray | float) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gain + bias


def test_equals_transformers_gpt2() -> None:
    transformers = pytest.importorskip("transformers")
    config = replace(
        SMALL,
        feed_forward_width=48,
        embedding_multiplier=1.0,
        logit_multiplier=1.0,
        attention_scale=0.5,
    )
    theirs = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=11,
            n_positions=7,
            n_embd=12,
            n_layer=2,
            n_head=3,
            activation_function="gelu",
        )
    ).eval()
    ours = _build(config)
    assert num_params(config) == theirs.num_parameters()
    theirs.load_state_dict(_as_gpt2(ours), strict=False)
    tokens_BT = _tokens(config)
    with torch.no_grad():
        torch.testing.assert_close(ours(tokens_BT), theirs(tokens_BT).logits, rtol=1e-4, atol=1e-4)


def _as_gpt2(model: GPT) -> dict[str, Tensor]:
    renamed = {
        "tokens": "wte",
        "positions": "wpe",
        "final_norm": "ln_f",
        "attention_norm": "ln_1",
        "attention.qkv": "attn.c_attn",
        "attention.out": "attn.c_proj",
        "feed_forward_norm": "ln_2",
        "feed_forward.up": "mlp.c_fc",
        "feed_forward.down": "mlp.c_proj",
    }
    state: dict[str, Tensor] = {}
    for name, parameter in model.named_parameters():
        module, _, leaf = name.rpartition(".")
        place = ""
        if module.startswith("blocks."):
            _, layer, module = module.split(".", 2)
            place = f"h.{layer}."
        # GPT-2's Conv1D holds its matrix the other way round.
        linear = isinstance(model.get_submodule(name.rpartition(".")[0]), nn.Linear)
        value = parameter.detach().T if linear and leaf == "weight" else parameter.detach()
        state[f"transformer.{place}{renamed[module]}.{leaf}"] = value
    return state | {"lm_head.weight": model.tokens.weight.detach()}


def test_alibi_slopes_are_the_published_ones() -> None:
    # arXiv 2108.12409, section 3: 8 heads take 1/2 to 1/2^8; 12 heads per the authors' code.
    assert alibi_slopes(8).tolist() == [2.0**-i for i in range(1, 9)]
    twelve = [2.0**-i for i in range(1, 9)] + [2.0**-0.5, 2.0**-1.5, 2.0**-2.5, 2.0**-3.5]
    assert alibi_slopes(12).tolist() == pytest.approx(twelve)


def test_alibi_bias_equals_a_naive_one() -> None:
    bias_HTT = alibi_bias(4, 5)
    for head, query, key in itertools.product(range(4), range(5), range(5)):
        slope = 2.0 ** (-2 * (head + 1))
        expected = -slope * (query - key) if key <= query else -math.inf
        assert float(bias_HTT[head, query, key]) == expected, (head, query, key)


@pytest.mark.parametrize("positions", ["learned", "alibi"])
def test_no_logit_sees_a_later_token(positions: str) -> None:
    config = replace(SMALL, positions=positions)
    model, tokens_BT = _build(config), _tokens(config)
    changed_BT = tokens_BT.clone()
    changed_BT[:, 4] = (changed_BT[:, 4] + 1) % config.vocab_size
    before, after = model(tokens_BT), model(changed_BT)
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


def test_short_sequences_fit_a_long_context() -> None:
    for config in (SMALL, replace(SMALL, positions="alibi")):
        model, tokens_BT = _build(config), _tokens(config)
        torch.testing.assert_close(model(tokens_BT[:, :3]), model(tokens_BT)[:, :3])


def test_tied_embedding_gets_the_gradient_of_both_ends() -> None:
    model, tokens_BT = _build(SMALL), torch.zeros(1, 3, dtype=torch.long)
    next_token_loss(model(tokens_BT), tokens_BT).backward()
    gradient = model.tokens.weight.grad
    assert gradient is not None
    # Token 5 is never read, so only the unembedding end can move it.
    assert float(gradient[5].abs().max()) > 0.0


def test_start_ignores_and_keeps_the_global_random_state() -> None:
    torch.manual_seed(1)
    first = GPT(SMALL, generator=torch.Generator().manual_seed(3))
    torch.manual_seed(2)
    state = torch.get_rng_state()
    second = GPT(SMALL, generator=torch.Generator().manual_seed(3))
    assert torch.equal(torch.get_rng_state(), state)
    for name, value in first.state_dict().items():
        assert torch.equal(value, second.state_dict()[name]), name


def test_bad_shapes_are_refused() -> None:
    with pytest.raises(SpecError, match="multiple of head_size"):
        replace(SMALL, head_size=5)
    with pytest.raises(SpecError, match="at least 1"):
        replace(SMALL, num_layers=0)
    with pytest.raises(SpecError, match="'gelu' or 'swiglu'"):
        replace(SMALL, feed_forward="relu")
    with pytest.raises(SpecError, match="at most 7"):
        _build(SMALL)(torch.zeros(1, 8, dtype=torch.long))
