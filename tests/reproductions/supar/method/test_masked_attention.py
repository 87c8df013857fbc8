"""Masks in attention, whose output projection is read and never called, and round it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.supar import linear_layers, max_abs_masked, sparsify
from tests.reproductions.supar.masked_nets import leak, masks_of
from tests.reproductions.supar.small import zeros_under

WIDTH = 16


class Attention(nn.Module):
    """Self-attention as a module of one input."""

    def __init__(self, *, batch_first: bool = True) -> None:
        super().__init__()
        self.inner = nn.MultiheadAttention(WIDTH, 4, batch_first=batch_first)

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x, x, x)[0]


def encoder_layer() -> nn.Module:
    return nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)


def encoder() -> nn.Module:
    return nn.TransformerEncoder(encoder_layer(), 2)


def decoder_layer() -> nn.Module:
    class Decoder(nn.TransformerDecoderLayer):
        def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(x, x.flip(1))

    return Decoder(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)


MAKERS = [Attention, encoder_layer, encoder, decoder_layer]


@pytest.fixture(autouse=True)
def _known_start() -> Iterator[None]:
    """Modules of torch draw their start from the global stream alone."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        yield


def sparse(make: Callable[[], nn.Module]) -> nn.Module:
    model = make()
    layers = linear_layers(model, exclude=())
    sparsify(model, layers=layers, density=0.25, generator=torch.Generator().manual_seed(1))
    return model


def inputs_of(step: int) -> Tensor:
    return torch.randn(3, 5, WIDTH, generator=torch.Generator().manual_seed(step))


def train(model: nn.Module, *, num_steps: int = 5) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    for step in range(num_steps):
        optimizer.zero_grad()
        (model(inputs_of(step)) - 1.0).square().mean().backward()
        optimizer.step()


def fill(model: nn.Module) -> None:
    """Write ones into every masked place, as a write that no hook sees."""
    for name, value in model.named_parameters():
        if name in (masks := masks_of(model)):
            value.data.masked_fill_(~masks[name], 1.0)


def test_a_copy_trains_no_pruned_weight() -> None:
    model = copy.deepcopy(pickle.loads(pickle.dumps(sparse(encoder))))
    assert "layers.0.self_attn.out_proj.weight" in masks_of(model)
    train(model)
    assert max_abs_masked(model) == 0.0
    assert leak(model, encoder(), inputs_of(9)) < 1e-6


@pytest.mark.parametrize("make", MAKERS)
def test_what_is_written_under_a_mask_is_never_read(make: Callable[[], nn.Module]) -> None:
    """Without gradients these modules take a fast path, which reads the weights itself."""
    model = sparse(make).eval()
    fill(model)
    assert leak(model, make(), inputs_of(0)) < 1e-6


def test_a_compiled_model_is_masked() -> None:
    model, twin = sparse(encoder_layer), encoder_layer()
    fill(model)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    leak(model, twin, inputs_of(0))
    found = compiled(inputs_of(0))
    assert torch.allclose(found, twin(inputs_of(0)), atol=1e-6)
    found.square().sum().backward()
    gradients = {name: value.grad for name, value in model.named_parameters()}
    assert all(zeros_under(gradients[name], mask) for name, mask in masks_of(model).items())


def test_a_projection_without_its_attention_is_refused() -> None:
    projection = Attention().inner.out_proj
    with pytest.raises(SpecError, match="read and never called"):
        sparsify(projection, layers=[""], density=0.5, generator=torch.Generator())
