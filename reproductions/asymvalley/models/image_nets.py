"""From the parameters of a trial to its network."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from harness.errors import SpecError
from reproductions.asymvalley.models.pairs import GREY, NUM_CLASSES, Net
from reproductions.nets import alexnet, resnet, vgg, vit

BN_START_STD = 0.1
VIT_HEAD = 16
"""Width of an attention head: the paper's 8 heads at width 128 (appendix A.3)."""


def build_net(params: Net, *, generator: torch.Generator, device: str = "cpu") -> nn.Module:
    """Return the network of a trial at its start.

    device: "meta" builds it without storage.
    """
    config, build, _ = _config(params)
    net: nn.Module = build(config, generator=generator, device=device)
    return net


def num_params(params: Net) -> int:
    """Return the number of parameters of a trial's network, by the closed form."""
    config, _, count = _config(params)
    return int(count(config))


def _config(params: Net) -> tuple[Any, Any, Any]:
    """Return the configuration of a trial's network, its class and its count of parameters."""
    depth = params.depth
    shape: dict[str, Any] = {
        "num_classes": NUM_CLASSES[params.data],
        "in_channels": 1 if params.data in GREY else 3,
        "image_size": params.image_size,
        "width": params.width,
    }
    match params.net:
        case "vgg":
            config = vgg.VGGConfig(**shape | {"depth": depth}, batch_norm=params.batch_norm)
            return config, vgg.VGG, vgg.num_params
        case "resnet":
            return resnet.ResNetConfig(**shape, depth=depth), resnet.ResNet, resnet.num_params
        case "alexnet":
            flat = alexnet.AlexNetConfig(**shape, head_width=0)
            return flat, alexnet.AlexNet, alexnet.num_params
        case "vit":
            # The patch size is not stated: 64 patches per image (8 pixels for Food-101).
            patch = max(1, params.image_size // 8)
            heads = max(1, params.width // VIT_HEAD)
            layers = {"patch_size": patch, "num_layers": depth, "num_heads": heads}
            return vit.ViTConfig(**shape, **layers), vit.ViT, vit.num_params


@torch.no_grad()
def start_batch_norms(model: nn.Module, start: str, generator: torch.Generator) -> None:
    """Draw the weights of batch normalisation: 1, U(0,1) or G(0,0.1), section 4.2.1.

    Biases stay 0. Raises SpecError for another start, or a model without batch normalisation
    that should have another one.
    """
    if start == "ones":
        return
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    if not norms:
        raise SpecError(f"bn_start={start!r} for a network without batch normalisation")
    for norm in norms:
        if start == "uniform":
            norm.weight.uniform_(0.0, 1.0, generator=generator)
        elif start == "gaussian":
            norm.weight.normal_(0.0, BN_START_STD, generator=generator)
        else:
            raise SpecError(f"bn_start={start!r}: need 'ones', 'uniform' or 'gaussian'")
