"""Modules and language models as pure functions of their weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.fg2u import Sgd, from_loss, functional, hypergradient
from tests.reproductions.fg2u.small import drawn
from tests.reproductions.nets.closures import Bound, Captured, Closed, seeded


def test_a_module_is_called_with_other_weights() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.GroupNorm(2, 4), nn.Linear(4, 2)).double()
    call, weights = functional(module)
    doubled = {name: 2.0 * weight for name, weight in weights.items()}
    assert torch.equal(call(weights, drawn(5, 3)), module(drawn(5, 3)))
    assert not torch.equal(call(doubled, drawn(5, 3)), module(drawn(5, 3)))
    assert not any(weight.requires_grad for weight in weights.values())


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), r"1 \(BatchNorm1d\) updates running"),
        (nn.InstanceNorm1d(3, track_running_stats=True), r"\(InstanceNorm1d\) updates running"),
        (nn.Dropout(0.1), r"the module \(Dropout\) draws anew"),
        (nn.LSTM(3, 3, 2, dropout=0.1), r"the module \(LSTM\) draws anew"),
    ],
)
def test_a_module_that_is_no_function_of_its_weights_is_named(module: nn.Module, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        functional(module)
    functional(module.eval())


def test_frozen_weights_are_constants() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    module[0].requires_grad_(False)
    call, weights = functional(module)
    assert set(weights) == {"1.weight", "1.bias"}
    x = torch.ones(5, 3)
    assert torch.equal(call(weights, x), module(x))


def test_batch_norm_without_running_statistics_is_a_function() -> None:
    functional(nn.BatchNorm1d(3, track_running_stats=False))


def test_weights_of_tokens_of_a_language_model() -> None:
    """Meta-learned weights of tokens in a model of transformers: every method, one gradient."""
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        vocab_size=20, n_positions=8, n_embd=8, n_layer=2, n_head=2,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    torch.manual_seed(0)
    call, weights = functional(transformers.GPT2LMHeadModel(config).double().eval())
    ids = torch.randint(20, (3, 8), generator=torch.Generator().manual_seed(0))

    def nll(weights: Any, ids: Tensor) -> Tensor:
        scores = call(weights, input_ids=ids, use_cache=False).logits[:, :-1]
        return nn.functional.cross_entropy(
            scores.flatten(0, 1), ids[:, 1:].flatten(), reduction="none"
        )

    problem = from_loss(
        start=lambda phi, batch: weights,
        loss=lambda weights, phi, batch, number: (phi.repeat(2) * nll(weights, ids[:2])).mean(),
        outer_loss=lambda weights, phi, batch: nll(weights, ids[2:]).mean(),
        optimizer=Sgd(lr=0.5),
        num_steps=2,
    )
    phi = torch.ones(7, dtype=torch.float64)
    exact = hypergradient("rgu")(problem, phi).grad
    assert float(exact.norm()) > 1e-4
    every = hypergradient("fg2u", num_directions=7, chunk=7, directions="coordinate")
    for method in (every, hypergradient("rgu-mixflow"), hypergradient("rgu-checkpoint")):
        assert torch.allclose(method(problem, phi).grad, exact, rtol=1e-8, atol=1e-12), method


@pytest.mark.parametrize("kind", [Closed, Bound])
def test_what_reaches_its_weights_through_itself_is_called_with_others(kind: type[Closed]) -> None:
    """The module itself is called, so that a function over it finds what is put in its place."""
    module = seeded(kind)
    call, weights = functional(module)
    x = torch.ones(2, 4)
    torch.testing.assert_close(call(weights, x), module(x))
    assert not call({name: torch.zeros_like(w) for name, w in weights.items()}, x).any()


def test_a_module_that_holds_on_to_a_weight_is_refused() -> None:
    """The weight would have no part in any derivative."""
    call, weights = functional(seeded(Captured))
    with pytest.raises(SpecError, match=r"last\.weight that a function inside it holds on to"):
        call(weights, torch.ones(2, 4))
