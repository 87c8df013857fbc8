"""Roles of parameters: told by their names, sure, or refused with the list; never guessed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
import torch
from torch import nn

from harness.errors import SpecError
from reproductions.supar import infer_roles, linear_layers
from reproductions.supar.method.coordinate_check import hidden_layers
from reproductions.supar.method.roles import Role
from tests.reproductions.supar.checked_nets import gpt2, llama


def having(roles: Mapping[str, Role], role: Role) -> set[str]:
    return {name for name, other in roles.items() if other == role}


def layers(pattern: str, *names: str, count: int = 2) -> set[str]:
    return {pattern.format(index) + name for index in range(count) for name in names}


def refusal(model: nn.Module, hidden: Iterable[str], **named: Iterable[str]) -> str:
    with pytest.raises(SpecError) as error:
        infer_roles(model, hidden, **named)
    return str(error.value)


def test_gpt_2_is_refused_with_the_list_of_its_layers_until_they_are_named() -> None:
    model = gpt2(32, num_layers=2)
    told = refusal(model, linear_layers(model, exclude=["lm_head"]))
    assert told.startswith("no role is sure for transformer.h.*.attn.c_attn.weight (32 x 96),")
    inner = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")
    for hidden in (["transformer.h"], ["*.c_attn", "*.c_proj", "*.c_fc"]):
        roles = infer_roles(model, hidden)
        assert having(roles, "hidden") == layers("transformer.h.{}.", *inner)
        assert having(roles, "embedding") == {"transformer.wte.weight", "transformer.wpe.weight"}


def test_a_tied_readout_is_the_embedding_and_an_untied_one_must_be_named() -> None:
    tied, untied = llama(32), llama(32, tied=False)
    hidden = linear_layers(tied, exclude=["lm_head"])
    assert having(infer_roles(tied, hidden), "embedding") == {"model.embed_tokens.weight"}
    assert refusal(untied, hidden).startswith("no role is sure for lm_head.weight (64 x 32): name")
    roles = infer_roles(untied, hidden, embeddings=["lm_head"])
    assert having(roles, "embedding") == {"model.embed_tokens.weight", "lm_head.weight"}
    assert "model.embed_tokens.weight is the table of" in refusal(tied, [*hidden, "lm_head"])


@pytest.mark.parametrize("tied", [True, False])
def test_the_readout_is_not_masked_without_a_word(tied: bool) -> None:
    with pytest.raises(SpecError, match="'lm_head' is the readout, which no mask fits: exclude it"):
        linear_layers(llama(32, tied=tied), exclude=())


def test_in_proj_weight_is_refused_until_its_layer_is_named() -> None:
    layer = nn.TransformerEncoderLayer(32, 2, 64)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    hidden = [name for name in linear_layers(model, exclude=()) if "linear" in name]
    message = refusal(model, hidden)
    assert "layers.*.self_attn.in_proj_weight (96 x 32)" in message
    assert "layers.*.self_attn.out_proj.weight (32 x 32)" in message
    roles = infer_roles(model, [*hidden, "layers.*.self_attn"])
    attention = ("self_attn.in_proj_weight", "self_attn.out_proj.weight")
    ends = (*attention, "linear1.weight", "linear2.weight")
    assert having(roles, "hidden") == layers("layers.{}.", *ends)
    assert having(roles, "embedding") == set()


def test_layers_with_a_short_side_are_inputs_and_readouts() -> None:
    model = nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 32), nn.Linear(32, 1))
    roles = infer_roles(model, ["1"])
    assert having(roles, "embedding") == {"0.weight", "2.weight"}
    assert having(roles, "vector") == {"0.bias", "1.bias", "2.bias"}


def test_a_forgotten_matrix_of_two_long_sides_is_no_embedding() -> None:
    model = nn.Sequential(
        nn.Linear(8, 32), nn.Linear(32, 128), nn.Linear(128, 32), nn.Linear(32, 9)
    )
    message = refusal(model, ["1"])
    # Nine goes three times into 32: a key of a single head could be as long.
    assert "for 2.weight (32 x 128), 3.weight (9 x 32): name" in message
    roles = infer_roles(model, ["1", "2"], embeddings="3")
    assert having(roles, "embedding") == {"0.weight", "3.weight"}


class Block(nn.Module):
    """A mixer in the manner of Mamba: a depthwise convolution, and a fused and short projection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.enter, self.leave = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.conv = nn.Conv1d(width, width, 4, groups=width)
        self.to_steps_and_states = nn.Linear(width, width // 16 + 2, bias=False)


def blocks(width: int = 64) -> nn.Module:
    model = nn.Module()
    model.embed, model.layers = nn.Embedding(9, width), nn.ModuleList([Block(width), Block(width)])
    model.readout = nn.Linear(width, 3)
    return model


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Conv2d(64, 256, 3, groups=8), "256 x 8 x 3 x 3"),
        (nn.ConvTranspose2d(256, 64, 3, groups=8), "256 x 8 x 3 x 3"),
    ],
)
def test_a_convolution_in_groups_is_refused_until_it_is_named(layer: nn.Module, shape: str) -> None:
    """It stores a part of its input's channels: a few, though they grow with the width."""
    model = nn.Sequential(nn.Conv2d(3, 64, 3), layer, nn.Linear(64, 64))
    assert refusal(model, ["2"]).startswith(f"no role is sure for 1.weight ({shape}): name each")
    roles = infer_roles(model, ["1", "2"], embeddings=["0"])
    assert having(roles, "hidden") == {"1.weight", "2.weight"}
    assert infer_roles(model, ["2"], embeddings=["1"])["1.weight"] == "embedding"


def test_a_depthwise_convolution_is_never_hidden() -> None:
    """Each of its neurons has as many weights at any width."""
    model = nn.Sequential(nn.Conv2d(64, 64, 3, groups=64), nn.Conv2d(64, 64, 1))
    assert having(infer_roles(model, ["1"]), "embedding") == {"0.weight"}
    assert refusal(model, ["*"]).startswith("0.weight is the weight of a depthwise convolution")
    assert infer_roles(model, ["*"], embeddings=["0"]) == infer_roles(model, ["1"])


def packed() -> nn.Linear:
    """Return a layer as bitsandbytes stores it: two weights of four bits to a byte, in a column."""
    layer = nn.Linear(64, 64)
    codes = torch.zeros(64 * 64 // 2, 1, dtype=torch.uint8)
    layer.weight = nn.Parameter(codes, requires_grad=False)
    return layer


def test_a_packed_layer_is_named_and_has_its_features_sides() -> None:
    model = nn.Sequential(nn.Linear(8, 64), nn.Linear(64, 64), packed())
    roles = infer_roles(model, ["1", "2"])
    assert having(roles, "hidden") == {"1.weight", "2.weight"}
    assert having(roles, "embedding") == {"0.weight"}


def test_a_short_projection_within_a_block_is_refused_until_it_is_named() -> None:
    """It may be a fused one of which a part grows; what is short outside of blocks does not."""
    model = blocks()
    message = refusal(model, ["*.enter", "*.leave"])
    assert "for layers.*.to_steps_and_states.weight (6 x 64): name each" in message
    roles = infer_roles(model, ["*.enter", "*.leave"], embeddings=["*.to_steps_and_states"])
    assert having(roles, "hidden") == layers("layers.{}.", "enter.weight", "leave.weight")
    assert roles["layers.0.conv.weight"] == roles["readout.weight"] == "embedding"
    assert "layers.0.conv.weight is the weight of a depthwise" in refusal(model, ["layers"])


class Experts(nn.Module):
    """Fused experts, which some keep along the first axis and some along the last."""

    def __init__(self, width: int, axis: int) -> None:
        super().__init__()
        shape = [width, 4 * width]
        shape.insert(axis, 4)
        self.up = nn.Parameter(torch.zeros(shape))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_experts_in_one_tensor_are_refused_until_they_are_named(axis: int) -> None:
    model = nn.Sequential(nn.Linear(64, 64), Experts(64, axis))
    assert "no role is sure for 1.up (" in refusal(model, ["0"])
    assert infer_roles(model, ["0", "1"])["1.up"] == "hidden"
    narrow, wide = nn.Sequential(Experts(64, axis)), nn.Sequential(Experts(128, axis))
    assert hidden_layers(narrow, wide) == ["0"]
