"""A small vision transformer: pre-norm blocks, learned positions, the mean of all patches.

Source: arXiv 2010.11929; the average in place of its class token is that of its appendix D.3.

Further letters in tensor names: T patches, E heads, K head size.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.nets.build import (
    ImageConfig,
    ImageNet,
    conv_params,
    draw_truncated,
    linear_params,
    materialize,
)

MLP_RATIO = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class ViTConfig(ImageConfig):
    """Shape of a vision transformer; it has layer norm, and no dropout."""

    patch_size: int
    """Height and width of a patch, in pixels; divides `image_size`."""
    width: int
    """D; a multiple of `num_heads`."""
    num_layers: int
    num_heads: int

    def __post_init__(self) -> None:
        ImageConfig.__post_init__(self)
        self.require_positive("patch_size", "width", "num_layers", "num_heads")
        if self.image_size % self.patch_size:
            raise SpecError(f"patch_size={self.patch_size}: need a divisor of {self.image_size}")
        if self.width % self.num_heads:
            raise SpecError(f"width={self.width}: need a multiple of num_heads={self.num_heads}")

    @property
    def num_patches(self) -> int:
        return (self.image_size // self.patch_size) ** 2


def num_params(config: ViTConfig) -> int:
    """Return the exact number of parameters: 12 D^2 + 13 D a layer, and both ends."""
    d = config.width
    patches = conv_params(config.in_channels, d, config.patch_size, bias=True)
    ends = patches + config.num_patches * d + 2 * d + linear_params(d, config.num_classes)
    return ends + config.num_layers * (12 * d * d + 13 * d)


class Attention(nn.Module):
    """Self-attention with one fused matrix for queries, keys and values."""

    def __init__(self, config: ViTConfig) -> None:
        super().__init__()
        self.num_heads = config.num_heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)

    def forward(self, x_BTD: Tensor) -> Tensor:
        qkv_BTD = self.qkv(x_BTD).unflatten(-1, (3, self.num_heads, -1))
        q_BETK, k_BETK, v_BETK = qkv_BTD.permute(2, 0, 3, 1, 4).unbind(0)
        y_BETK = F.scaled_dot_product_attention(q_BETK, k_BETK, v_BETK)
        x_BTD = self.out(y_BETK.transpose(1, 2).flatten(2))
        return x_BTD


class Block(nn.Module):
    """One layer; the outputs of `attention` and `feed_forward` are added to the residual."""

    def __init__(self, config: ViTConfig) -> None:
        super().__init__()
        d = config.width
        self.attention_norm = nn.LayerNorm(d)
        self.attention = Attention(config)
        self.feed_forward_norm = nn.LayerNorm(d)
        self.feed_forward = nn.Sequential(
            nn.Linear(d, MLP_RATIO * d), nn.GELU(), nn.Linear(MLP_RATIO * d, d)
        )

    def forward(self, x_BTD: Tensor) -> Tensor:
        x_BTD = x_BTD + self.attention(self.attention_norm(x_BTD))
        x_BTD = x_BTD + self.feed_forward(self.feed_forward_norm(x_BTD))
        return x_BTD


class ViT(ImageNet):
    """Patches, positions, blocks, a final norm, the mean; started by `build.draw_truncated`."""

    def __init__(
        self, config: ViTConfig, *, generator: torch.Generator, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(config)
        patch = config.patch_size
        with torch.device("meta"):
            self.patches = nn.Conv2d(config.in_channels, config.width, patch, stride=patch)
            self.positions = nn.Parameter(torch.empty(config.num_patches, config.width))
            self.blocks = nn.Sequential(*(Block(config) for _ in range(config.num_layers)))
            self.final_norm = nn.LayerNorm(config.width)
            self.classifier = nn.Linear(config.width, config.num_classes)
        materialize(self, generator=generator, device=device, how=draw_truncated)

    def _features(self, x_BCHW: Tensor) -> Tensor:
        """Return the mean over the patches of the last norm's output, shape (B, D)."""
        x_BTD = self.patches(x_BCHW).flatten(2).transpose(1, 2) + self.positions
        features_BD: Tensor = self.final_norm(self.blocks(x_BTD)).mean(1)
        return features_BD
