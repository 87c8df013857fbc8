"""The image nets against published counts, and against plain float64 forwards."""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.nets import alexnet, convnet, resnet, vgg, vit
from reproductions.nets.build import draw, draw_truncated

SMALL = {"num_classes": 5, "in_channels": 3, "image_size": 16}
VGG = vgg.VGGConfig(**SMALL, depth=11, width=4, batch_norm=True)
RESNET = resnet.ResNetConfig(**SMALL, depth=14, width=4)
ALEXNET = alexnet.AlexNetConfig(**SMALL, width=2, head_width=7)
CONVNET = convnet.ConvNetConfig(**SMALL, width=3, batch_norm=True)
VIT = vit.ViTConfig(**SMALL, patch_size=4, width=12, num_layers=2, num_heads=3)
ONE_EACH = [VGG, RESNET, ALEXNET, CONVNET, VIT]
GREY_28 = {"in_channels": 1, "image_size": 28, "num_classes": 10}
DIGITS_8 = {"in_channels": 1, "image_size": 8, "num_classes": 10}
VARIANTS = [
    *ONE_EACH,
    *(replace(config, **GREY_28) for config in ONE_EACH),
    *(replace(config, **DIGITS_8) for config in ONE_EACH),
    replace(VGG, depth=16, width=6, batch_norm=False),
    replace(VGG, head_width=9, image_size=64),
    replace(VGG, image_size=1),
    replace(RESNET, depth=20, width=16, num_classes=100),
    replace(RESNET, depth=8, image_size=7),
    replace(ALEXNET, head_width=0, image_size=64),
    replace(ALEXNET, width=5, image_size=33, dropout=0.5),
    replace(CONVNET, batch_norm=False, image_size=1),
    replace(VIT, num_heads=1, patch_size=16),
]
NETS = {
    vgg.VGGConfig: (vgg, vgg.VGG),
    resnet.ResNetConfig: (resnet, resnet.ResNet),
    alexnet.AlexNetConfig: (alexnet, alexnet.AlexNet),
    convnet.ConvNetConfig: (convnet, convnet.ConvNet),
    vit.ViTConfig: (vit, vit.ViT),
}


def _module(config: object) -> ModuleType:
    return NETS[type(config)][0]


def _net(config: object, *, seed: int = 0, device: str = "cpu") -> nn.Module:
    return NETS[type(config)][1](
        config, generator=torch.Generator().manual_seed(seed), device=device
    )


def _shaken(config: object) -> nn.Module:
    """Return a net in float64 with every weight and statistic moved, so that none is neutral."""
    net, shake = _net(config).double(), torch.Generator().manual_seed(1)
    with torch.no_grad():
        for value in net.parameters():
            value.add_(0.3 * torch.randn(value.shape, generator=shake, dtype=value.dtype))
        for name, value in net.named_buffers():
            if name.endswith(("running_mean", "running_var")):
                value.add_(torch.rand(value.shape, generator=shake, dtype=value.dtype))
    return net.eval()


def _images(config: object, count: int = 3, dtype: torch.dtype = torch.float32) -> Tensor:
    shape = (count, config.in_channels, config.image_size, config.image_size)
    return torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=dtype)


@pytest.mark.parametrize("config", VARIANTS, ids=str)
def test_parameter_count_is_the_closed_form(config: object) -> None:
    net = _net(config, device="meta")
    assert all(value.is_meta for value in net.state_dict().values())
    assert sum(p.numel() for p in net.parameters()) == _module(config).num_params(config)


def test_parameter_counts_are_the_published_ones() -> None:
    cifar = {"num_classes": 10, "in_channels": 3, "image_size": 32}
    # torchvision's vgg11_bn, vgg16_bn and vgg16 without their heads, plus Linear(512, 10).
    for depth, batch_norm, published in ((16, True, 14_728_266), (11, True, 9_231_114)):
        config = vgg.VGGConfig(**cifar, depth=depth, width=64, batch_norm=batch_norm)
        assert vgg.num_params(config) == published
    original = vgg.VGGConfig(**cifar, depth=16, width=64, batch_norm=False)
    assert vgg.num_params(original) == 14_714_688 + 5_130
    # akamaster/pytorch_resnet_cifar10: 0.27 M, 0.46 M, 0.66 M and 0.85 M.
    sizes = {20: 269_722, 32: 464_154, 44: 658_586, 56: 853_018}
    for depth, published in sizes.items():
        config = resnet.ResNetConfig(**cifar, depth=depth, width=16)
        assert resnet.num_params(config) == published
    # torchvision's AlexNet with 3x3 kernels throughout, and its three-layer head on 256 x 2 x 2.
    config = alexnet.AlexNetConfig(**cifar, width=64, head_width=4096)
    assert alexnet.num_params(config) == 2_251_584 + 4_198_400 + 16_781_312 + 40_970
    # DeiT-tiny has 5,717,416 with its class token: 192 for it and 192 for its position.
    tiny = vit.ViTConfig(
        num_classes=1000,
        in_channels=3,
        image_size=224,
        patch_size=16,
        width=192,
        num_layers=12,
        num_heads=3,
    )
    assert vit.num_params(tiny) == 5_717_416 - 2 * 192


@pytest.mark.parametrize("config", VARIANTS, ids=str)
def test_forward_is_the_classifier_on_the_features(config: object) -> None:
    net = _net(config).eval()
    images_BCHW = _images(config)
    assert isinstance(net.classifier, nn.Linear)
    assert net.classifier.weight is list(net.parameters())[-2], "it is the last layer"
    features_BD = net.features(images_BCHW)
    assert features_BD.shape == (3, net.classifier.in_features)
    assert net(images_BCHW).shape == (3, config.num_classes)
    torch.testing.assert_close(net(images_BCHW), net.classifier(features_BD))
    assert _net(config, device="meta")(images_BCHW.to("meta")).shape == (3, config.num_classes)


@pytest.mark.parametrize("config", ONE_EACH, ids=lambda config: type(config).__name__)
def test_building_and_training_leave_the_global_random_state(config: object) -> None:
    torch.manual_seed(1)
    first = _net(config, seed=3)
    torch.manual_seed(2)
    state = torch.get_rng_state()
    second, other = _net(config, seed=3), _net(config, seed=4)
    _net(config, device="meta")
    second(_images(config)).sum().backward()
    assert torch.equal(torch.get_rng_state(), state)
    for (name, value), drawn in zip(first.named_parameters(), second.parameters(), strict=True):
        assert torch.equal(value, drawn), name
    assert not torch.equal(first.classifier.weight, other.classifier.weight)


@pytest.mark.parametrize(
    "config", [*ONE_EACH[:-1], replace(VGG, head_width=9)], ids=lambda c: type(c).__name__
)
def test_start_is_the_stated_one(config: object) -> None:
    # Wider, so that a spread can be told from another; a standard error is std / sqrt(2 n).
    net = _net(replace(config, width=16))
    for name, layer in net.named_modules():
        if isinstance(layer, nn.Conv2d):
            _check_spread(name, layer.weight, math.sqrt(2.0 / (9 * layer.out_channels)))
        elif isinstance(layer, nn.Linear):
            _check_spread(name, layer.weight, 0.01)
        elif isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
            for value, start in ((layer.weight, 1), (layer.running_mean, 0)):
                assert bool((value == start).all()), name
            assert bool((layer.running_var == 1).all()), name
            assert int(layer.num_batches_tracked) == 0
        if getattr(layer, "bias", None) is not None:
            assert not layer.bias.any(), name


def _check_spread(name: str, weight: Tensor, std: float) -> None:
    weight, error = weight.detach(), std / math.sqrt(2 * weight.numel())
    assert float(weight.std()) == pytest.approx(std, abs=5 * error), name
    assert abs(float(weight.mean())) < 5 * std / math.sqrt(weight.numel()), name


def test_transformer_starts_truncated() -> None:
    net = _net(replace(VIT, width=48))
    # A normal cut at two standard deviations keeps 0.8796 of its spread.
    for name, value in net.named_parameters():
        if value.ndim > 1:
            _check_spread(name, value, 0.02 * 0.8796)
            assert 0.035 < float(value.detach().abs().max()) <= 0.04, name
        else:
            norm = "norm" in name and name.endswith("weight")
            assert bool((value == float(norm)).all()), name


@pytest.mark.parametrize("rule", [draw, draw_truncated])
def test_a_layer_without_a_rule_is_refused(rule: object) -> None:
    with pytest.raises(SpecError, match=r"1 \(PReLU\): no rule draws its weights"):
        rule(nn.Sequential(nn.Linear(2, 2), nn.PReLU()), torch.Generator())


@pytest.mark.parametrize("config", ONE_EACH, ids=lambda config: type(config).__name__)
def test_channels_last_changes_nothing(config: object) -> None:
    plain, last = _shaken(config).train(), _shaken(config).train()
    last = last.to(memory_format=torch.channels_last)
    images_BCHW = _images(config, dtype=torch.float64)
    expected, found = (
        plain(images_BCHW),
        last(images_BCHW.contiguous(memory_format=torch.channels_last)),
    )
    torch.testing.assert_close(found, expected)
    expected.square().sum().backward()
    found.square().sum().backward()
    for (name, a), b in zip(plain.named_parameters(), last.parameters(), strict=True):
        torch.testing.assert_close(b.grad, a.grad, msg=lambda text, name=name: f"{name}: {text}")


def _norm(x: Tensor, w: dict[str, Tensor], name: str) -> Tensor:
    """Apply batch norm with its running statistics."""
    parts = ("running_mean", "running_var", "weight", "bias")
    return F.batch_norm(x, *(w[f"{name}.{part}"] for part in parts))


def _conv(x: Tensor, w: dict[str, Tensor], name: str, stride: int = 1) -> Tensor:
    return F.conv2d(x, w[f"{name}.weight"], w.get(f"{name}.bias"), stride=stride, padding=1)


def _pool(x: Tensor) -> Tensor:
    return x if x.shape[-1] == 1 else F.max_pool2d(x, 2)


def _linear(x: Tensor, w: dict[str, Tensor], name: str) -> Tensor:
    return F.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])


def _plain_resnet(x: Tensor, w: dict[str, Tensor], config: resnet.ResNetConfig) -> Tensor:
    x = torch.relu(_norm(_conv(x, w, "conv1"), w, "bn1"))
    for stage in (1, 2, 3):
        for block in range((config.depth - 2) // 6):
            name, halve = f"layer{stage}.{block}", stage > 1 and block == 0
            y = torch.relu(_norm(_conv(x, w, f"{name}.conv1", 2 if halve else 1), w, f"{name}.bn1"))
            y = _norm(_conv(y, w, f"{name}.conv2"), w, f"{name}.bn2")
            if halve:
                quarter = torch.zeros_like(y[:, : y.shape[1] // 4])
                x = torch.cat([quarter, x[:, :, ::2, ::2], quarter], dim=1)
            x = torch.relu(x + y)
    return _linear(x.mean((2, 3)), w, "linear")


def _plain_vgg(x: Tensor, w: dict[str, Tensor], config: vgg.VGGConfig) -> Tensor:
    plans = {11: "1M1M2M2M2M", 16: "2M2M3M3M3M"}
    place = 0
    for mark in plans[config.depth]:
        if mark == "M":
            # A pooling that is left out takes no place in the sequence.
            place, x = place + (x.shape[-1] > 1), _pool(x)
            continue
        for _ in range(int(mark)):
            x = _conv(x, w, f"convs.{place}")
            if config.batch_norm:
                x = _norm(x, w, f"convs.{place + 1}")
            place, x = place + (3 if config.batch_norm else 2), torch.relu(x)
    x = x.mean((2, 3))
    if config.head_width:
        x = torch.relu(_linear(torch.relu(_linear(x, w, "head.0")), w, "head.3"))
    return _linear(x, w, "classifier")


def _plain_alexnet(x: Tensor, w: dict[str, Tensor], config: alexnet.AlexNetConfig) -> Tensor:
    x = _pool(torch.relu(_conv(x, w, "convs.0", stride=2)))
    x = _pool(torch.relu(_conv(x, w, "convs.3")))
    for place in (6, 8, 10):
        x = torch.relu(_conv(x, w, f"convs.{place}"))
    x = _pool(x).reshape(len(x), -1)
    if config.head_width:
        x = torch.relu(_linear(torch.relu(_linear(x, w, "head.0")), w, "head.3"))
    return _linear(x, w, "classifier")


def _plain_convnet(x: Tensor, w: dict[str, Tensor], config: convnet.ConvNetConfig) -> Tensor:
    for block in range(4):
        x = _conv(x, w, f"blocks.{block}.conv")
        if config.batch_norm:
            x = _norm(x, w, f"blocks.{block}.norm")
        x = torch.relu(x)
        x = _pool(x) if block < 3 else x
    return _linear(x.mean((2, 3)), w, "classifier")


PLAIN = {
    vgg.VGGConfig: _plain_vgg,
    resnet.ResNetConfig: _plain_resnet,
    alexnet.AlexNetConfig: _plain_alexnet,
    convnet.ConvNetConfig: _plain_convnet,
}
WITHOUT_NORM = [replace(config, batch_norm=False) for config in (VGG, CONVNET)]


@pytest.mark.parametrize(
    "config",
    [
        *ONE_EACH[:-1],
        *WITHOUT_NORM,
        replace(VGG, depth=16, head_width=9, image_size=28),
        replace(VGG, **DIGITS_8),
        replace(RESNET, image_size=7, in_channels=1),
        replace(ALEXNET, image_size=64, head_width=0),
        replace(CONVNET, **DIGITS_8),
    ],
    ids=str,
)
def test_forward_equals_a_plain_one_in_float64(config: object) -> None:
    net, images_BCHW = _shaken(config), _images(config, dtype=torch.float64)
    weights = {name: value.detach() for name, value in net.state_dict().items()}
    expected = PLAIN[type(config)](images_BCHW, weights, config)
    assert float(expected.std()) > 1e-3, "a dead net would equal anything"
    torch.testing.assert_close(net(images_BCHW).detach(), expected)


def test_transformer_equals_torchs_encoder_in_float64() -> None:
    net, images_BCHW = _shaken(VIT), _images(VIT, dtype=torch.float64)
    # Patches cut by hand, row by row; then torch's own pre-norm layers with our weights.
    cut = images_BCHW.unflatten(3, (4, 4)).unflatten(2, (4, 4)).permute(0, 2, 4, 1, 3, 5)
    x_BTD = cut.reshape(3, 16, -1) @ net.patches.weight.flatten(1).T + net.patches.bias
    x_BTD = x_BTD + net.positions
    for block in net.blocks:
        x_BTD = _torch_layer(block, VIT)(x_BTD)
    scale, shift = net.final_norm.weight, net.final_norm.bias
    expected = F.layer_norm(x_BTD, (12,), scale, shift).mean(1)
    torch.testing.assert_close(net.features(images_BCHW), expected)


def _torch_layer(block: vit.Block, config: vit.ViTConfig) -> nn.Module:
    layer = nn.TransformerEncoderLayer(
        config.width,
        config.num_heads,
        dim_feedforward=4 * config.width,
        dropout=0.0,
        activation="gelu",
        batch_first=True,
        norm_first=True,
        dtype=torch.float64,
    )
    pairs = {
        "norm1": block.attention_norm,
        "norm2": block.feed_forward_norm,
        "self_attn.out_proj": block.attention.out,
        "linear1": block.feed_forward[0],
        "linear2": block.feed_forward[2],
    }
    state = {f"{name}.{k}": v for name, ours in pairs.items() for k, v in ours.state_dict().items()}
    qkv = block.attention.qkv
    state |= {"self_attn.in_proj_weight": qkv.weight, "self_attn.in_proj_bias": qkv.bias}
    layer.load_state_dict(state)
    return layer


def test_position_acts_between_norm_and_relu() -> None:
    net = _shaken(CONVNET)
    block, x_BCHW = net.blocks[1], torch.randn(2, 3, 8, 8, dtype=torch.float64)
    assert [name for name, _ in net.blocks[0].named_children()][:4] == [
        "conv",
        "norm",
        "position",
        "act",
    ]
    before = dict(net.named_parameters()).keys()
    seen: list[Tensor] = []
    block.position = _Shift()
    block.position.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    found = block(x_BCHW)
    weights = net.state_dict()
    normed = _norm(_conv(x_BCHW, weights, "blocks.1.conv"), weights, "blocks.1.norm")
    torch.testing.assert_close(seen[0], normed)
    torch.testing.assert_close(found, _pool(torch.relu(normed - 0.5)))
    assert dict(net.named_parameters()).keys() == before


class _Shift(nn.Module):
    def forward(self, x_BCHW: Tensor) -> Tensor:
        return x_BCHW - 0.5


def test_hidden_units_are_seen_at_their_own_relu() -> None:
    net, calls = _net(RESNET), []
    relus = [module for module in net.modules() if isinstance(module, nn.ReLU)]
    for relu in relus:
        relu.register_forward_hook(lambda module, _, output: calls.append((module, output.clone())))
    net(_images(RESNET))
    # One behind the stem, two in each of the 2 x 3 blocks; each used once.
    assert len(relus) == 1 + 2 * 6
    assert [module for module, _ in calls] == relus
    assert all(bool((output >= 0).all()) for _, output in calls)


def test_dropout_is_off_unless_asked_for() -> None:
    images_BCHW = _images(ALEXNET)
    plain = _net(ALEXNET)
    assert torch.equal(plain.train()(images_BCHW), plain.eval()(images_BCHW))
    dropping = _shaken(replace(ALEXNET, dropout=0.5)).float().train()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        assert not torch.equal(dropping(images_BCHW), dropping(images_BCHW))


@pytest.mark.parametrize(
    ("config", "change", "reason"),
    [
        (VGG, {"depth": 13}, "need one of"),
        (VGG, {"head_width": -1}, "at least 0"),
        (VGG, {"width": 0}, "at least 1"),
        (RESNET, {"depth": 18}, "6 n"),
        (RESNET, {"depth": 2}, "6 n"),
        (RESNET, {"width": 5}, "even"),
        (ALEXNET, {"dropout": 1.0}, "dropout < 1"),
        (ALEXNET, {"head_width": -1}, "at least 0"),
        (CONVNET, {"num_classes": 0}, "num_classes=0: need at least 1"),
        (VIT, {"patch_size": 5}, "divisor of 16"),
        (VIT, {"num_heads": 5}, "multiple of num_heads"),
    ],
    ids=str,
)
def test_bad_shapes_are_refused(config: object, change: dict[str, float], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        replace(config, **change)


@pytest.mark.parametrize("config", ONE_EACH, ids=lambda config: type(config).__name__)
def test_images_of_another_shape_are_refused(config: object) -> None:
    with pytest.raises(SpecError, match=r"built for \(batch, \*\(3, 16, 16\)\)"):
        _net(config)(_images(replace(config, in_channels=1)))
