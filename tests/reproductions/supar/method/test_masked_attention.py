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


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_trains_no_pruned_weight(
    make: Callable[[], nn.Module], copied: Callable[[nn.Module], nn.Module]
) -> None:
    if make is decoder_layer and copied is not copy.deepcopy:
        make = encoder_layer  # a class of a function is nothing that pickle finds
    model = copied(sparse(make))
    assert any(name.endswith("out_proj.weight") or "inner" in name for name in masks_of(model))
    train(model)
    assert max_abs_masked(model) == 0.0
    assert leak(model, make(), inputs_of(9)) < 1e-6


def test_a_masked_layer_handed_to_an_encoder_stays_masked() -> None:
    model = nn.TransformerEncoder(sparse(encoder_layer), 2)
    assert len(masks_of(model)) == 2 * 3
    train(model)
    assert max_abs_masked(model) == 0.0


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("make", MAKERS)
def test_what_is_written_under_a_mask_is_never_read(
    make: Callable[[], nn.Module], training: bool
) -> None:
    """Without gradients these modules take a fast path, which reads the weights itself."""
    model = sparse(make).train(training)
    fill(model)
    assert leak(model, make(), inputs_of(0)) < 1e-6
    padded = torch.tensor([[False] * 5, [False] * 4 + [True], [False] * 3 + [True] * 2])
    if isinstance(model, nn.TransformerEncoder):
        twin = make().train(training)
        leak(model, twin, inputs_of(0))
        with torch.no_grad():
            found, wanted = (
                net(inputs_of(0), src_key_padding_mask=padded).masked_fill(padded[..., None], 0.0)
                for net in (model, twin)
            )
        assert torch.allclose(found, wanted, atol=1e-6)


def test_a_functional_gradient_is_masked() -> None:
    model = sparse(encoder_layer)

    def loss(weights: dict[str, Tensor]) -> Tensor:
        return torch.func.functional_call(model, weights, (inputs_of(0),)).square().sum()

    weights = {name: torch.randn_like(value) for name, value in model.named_parameters()}
    found = torch.func.grad(loss)(weights)
    masks = masks_of(model)
    assert "self_attn.out_proj.weight" in masks
    assert all(zeros_under(found[name], mask) for name, mask in masks.items())
    pruned = {n: v.masked_fill(~masks[n], 9.0) if n in masks else v for n, v in weights.items()}
    assert torch.equal(loss(weights), loss(pruned))


@pytest.mark.parametrize("make", [Attention, encoder_layer])
def test_a_compiled_model_is_masked(make: Callable[[], nn.Module]) -> None:
    model = sparse(make)
    fill(model)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    twin = make()
    leak(model, twin, inputs_of(0))
    found = compiled(inputs_of(0))
    assert torch.allclose(found, twin(inputs_of(0)), atol=1e-6)
    found.square().sum().backward()
    gradients = {name: value.grad for name, value in model.named_parameters()}
    assert all(zeros_under(gradients[name], mask) for name, mask in masks_of(model).items())


def test_attention_is_found_as_itself() -> None:
    model = sparse(encoder_layer)
    attention = model.self_attn
    assert isinstance(attention, nn.MultiheadAttention)
    assert dict(model.named_parameters())["self_attn.out_proj.weight"] is attention.out_proj.weight
    assert set(model.state_dict()) - set(encoder_layer().state_dict()) == {
        f"{name}.weight_mask" for name in ("self_attn.out_proj", "linear1", "linear2")
    }


def test_a_projection_without_its_attention_is_refused() -> None:
    projection = Attention().inner.out_proj
    with pytest.raises(SpecError, match="read and never called"):
        sparsify(projection, layers=[""], density=0.5, generator=torch.Generator())
