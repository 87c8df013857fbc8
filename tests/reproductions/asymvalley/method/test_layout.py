"""A model's parameters as one vector, and its groups."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from harness.errors import SpecError
from reproductions.asymvalley.method.directions import PARTITION
from reproductions.asymvalley.method.layout import layout_of, parameters_vector, same_sign_ratio
from reproductions.nets.vgg import VGG, VGGConfig
from tests.reproductions.asymvalley.small import small_net


def vgg(*, batch_norm: bool) -> VGG:
    config = VGGConfig(
        num_classes=10, in_channels=3, image_size=32, depth=11, width=2, batch_norm=batch_norm
    )
    return VGG(config, generator=torch.Generator().manual_seed(0))


def test_vector_has_every_parameter_in_order_and_no_buffer() -> None:
    model = small_net()
    layout = layout_of(model)
    expected = nn.utils.parameters_to_vector(model.parameters())
    assert torch.equal(parameters_vector(model), expected)
    assert torch.equal(layout.flatten(model.state_dict()), expected)
    assert layout.size == sum(p.numel() for p in model.parameters())
    parts = layout.split(expected.detach())
    assert all(torch.equal(parts[name], p) for name, p in model.named_parameters())


@pytest.mark.parametrize("batch_norm", [True, False])
def test_five_parts_hold_every_parameter_once(batch_norm: bool) -> None:
    layout = layout_of(vgg(batch_norm=batch_norm))
    groups = [group for group in PARTITION if batch_norm or group != "bn_weight"]
    count = sum(layout.mask(group).int() for group in groups)
    assert torch.equal(count, torch.ones_like(count))  # type: ignore[arg-type]


def test_groups_have_the_sizes_of_their_tensors() -> None:
    model = vgg(batch_norm=True)
    layout, sizes = layout_of(model), {n: p.numel() for n, p in model.named_parameters()}
    convs = sum(m.weight.numel() for m in model.modules() if isinstance(m, nn.Conv2d))
    norms = sum(2 * m.num_features for m in model.modules() if isinstance(m, nn.BatchNorm2d))
    classifier = sizes["classifier.weight"] + sizes["classifier.bias"]
    expected = {
        "all": sum(sizes.values()),
        "clf": sizes["classifier.weight"],
        "feat": sum(sizes.values()) - classifier,
        "conv": convs,
        "bn": norms,
    }
    assert {group: int(layout.mask(group).sum()) for group in expected} == expected  # type: ignore[arg-type]


def test_biases_of_recurrent_and_attention_layers_are_biases() -> None:
    lstm = nn.LSTM(3, 4, num_layers=2, bidirectional=True)
    biases = sum(p.numel() for name, p in lstm.named_parameters() if "bias" in name)
    layout = layout_of(nn.Sequential(lstm, nn.Linear(8, 2)))
    assert int(layout.mask("other_bias").sum()) == biases == 2 * 2 * 2 * 16
    assert int(layout.mask("clf_bias").sum()) == 2
    attention = nn.MultiheadAttention(4, 2, add_bias_kv=True)
    named = {slot.name: slot.is_bias for slot in layout_of(attention).slots}
    assert named == {
        "in_proj_weight": False, "in_proj_bias": True, "bias_k": True, "bias_v": True,
        "out_proj.weight": False, "out_proj.bias": True,
    }  # fmt: skip


def test_transposed_convolutions_are_convolutions() -> None:
    layout = layout_of(nn.Sequential(nn.ConvTranspose2d(3, 4, 2), nn.Conv1d(4, 2, 3)))
    assert int(layout.mask("conv").sum()) == 3 * 4 * 4 + 4 * 2 * 3


def test_classifier_is_the_last_linear_layer_unless_named() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    assert int(layout_of(model).mask("clf").sum()) == 8
    assert int(layout_of(model, classifier="0").mask("clf").sum()) == 16
    with pytest.raises(SpecError, match="classifier='1' is no linear layer"):
        layout_of(model, classifier="1")


def test_zeros_agree_with_nothing() -> None:
    ours = torch.tensor([1.0, -1.0, 0.0, 2.0, 0.0])
    theirs = torch.tensor([3.0, -2.0, 0.0, -1.0, 1.0])
    assert same_sign_ratio(ours, theirs) == pytest.approx(2 / 5)


WIDER = dict(small_net().state_dict()) | {"0.weight": torch.zeros(8, 1, 3, 3)}


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: layout_of(nn.ReLU()), "no parameters"),
        (lambda: layout_of(vgg(batch_norm=False)).mask("bn"), "group 'bn' is empty"),
        (
            lambda: layout_of(small_net()).flatten(small_net(batch_norm=False).state_dict()),
            r"parameter 1\.weight is missing",
        ),
        (
            lambda: layout_of(small_net()).flatten(WIDER),
            r"parameter 0\.weight has shape \(8, 1, 3, 3\)",
        ),
    ],
)
def test_what_a_model_lacks_is_refused(ask: Callable[[], object], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        ask()
