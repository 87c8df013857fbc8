"""From the parameters of a trial to its network."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.declare import DryRun
from harness.measure.dry_step import dry_step
from reproductions.asymvalley.models.pairs import DATA, BnStart, Net
from reproductions.nets import alexnet, convnet, resnet, vgg, vit

Kind = Literal["vgg", "resnet", "alexnet", "vit", "convnet"]
VIT_HEAD = 16
"""Width of an attention head: the paper's 8 heads at width 128 (appendix A.3)."""


class Plan(NamedTuple):
    """How a network is made."""

    config: Any
    build: Callable[..., nn.Module]
    num_params: Callable[[Any], int]
    """From the configuration, by the closed form."""

    def net(self, *, generator: torch.Generator, device: str = "cpu") -> nn.Module:
        """Return the network at its start; on the device "meta" without storage."""
        return self.build(self.config, generator=generator, device=device)


@cache
def one_step(plan: Plan, batch_size: int, optimizer: Literal["sgd", "adamw"]) -> DryRun:
    """Count a network and one step of it, on tensors that allocate nothing.

    Once, since grids have many trials of each.
    """
    channels, side = plan.config.in_channels, plan.config.image_size

    def loss_of(model: nn.Module) -> Callable[[], Tensor]:
        x_BCHW = torch.zeros(batch_size, channels, side, side)
        labels_B = torch.zeros(batch_size, dtype=torch.long)
        return lambda: F.cross_entropy(model(x_BCHW), labels_B)

    def optimizer_of(model: nn.Module) -> torch.optim.Optimizer:
        weights = model.parameters()
        if optimizer == "adamw":
            return torch.optim.AdamW(weights)
        return torch.optim.SGD(weights, lr=0.1, momentum=0.9)

    return dry_step(
        plan.net(generator=torch.Generator(), device="meta"),
        lambda: plan.net(generator=torch.Generator()),
        optimizer=optimizer_of,
        loss=loss_of,
        expected_num_params=plan.num_params(plan.config),
        num_steps=1,
        copied=True,
    )


def plan_of(params: Net) -> Plan:
    """Return how a trial's network is made."""
    return planned(
        params.net,
        depth=params.depth,
        batch_norm=params.batch_norm,
        num_classes=DATA[params.data].classes,
        in_channels=DATA[params.data].channels,
        image_size=params.image_size,
        width=params.width,
    )


def planned(kind: Kind, *, depth: int, batch_norm: bool, **shape: int) -> Plan:
    """Return how a network of a kind is made.

    shape: num_classes, in_channels, image_size and width.
    """
    match kind:
        case "vgg":
            config = vgg.VGGConfig(**shape, depth=depth, batch_norm=batch_norm)  # type: ignore[arg-type]  # checked there
            return Plan(config, vgg.VGG, vgg.num_params)
        case "resnet":
            return Plan(resnet.ResNetConfig(**shape, depth=depth), resnet.ResNet, resnet.num_params)
        case "alexnet":
            flat = alexnet.AlexNetConfig(**shape, head_width=0)
            return Plan(flat, alexnet.AlexNet, alexnet.num_params)
        case "convnet":
            small = convnet.ConvNetConfig(**shape, batch_norm=batch_norm)
            return Plan(small, convnet.ConvNet, convnet.num_params)
        case "vit":
            # The patch size is not stated: 64 patches per image (8 pixels for Food-101).
            patch = max(1, shape["image_size"] // 8)
            heads = max(1, shape["width"] // VIT_HEAD)
            layers = {"patch_size": patch, "num_layers": depth, "num_heads": heads}
            return Plan(vit.ViTConfig(**shape, **layers), vit.ViT, vit.num_params)


@torch.no_grad()
def start_batch_norms(model: nn.Module, start: BnStart, generator: torch.Generator) -> None:
    """Draw the weights of batch normalisation: 1, U(0,1) or G(0,0.1), section 4.2.1.

    Biases stay 0.
    """
    for norm in (m for m in model.modules() if isinstance(m, nn.BatchNorm2d)):
        if start == "uniform":
            norm.weight.uniform_(0.0, 1.0, generator=generator)
        elif start == "gaussian":
            norm.weight.normal_(0.0, 0.1, generator=generator)
