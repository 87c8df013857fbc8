"""The model that takes the steps: equal layers, so that a sixteenth of it is one of them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from reproductions.paro.measured_steps.experiment import Share


class Layer(nn.Module):
    """x + relu(x W), its matrix frozen beside a pair of rank one where adapters train."""

    def __init__(self, width: int, *, is_adapted: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width, bias=False)
        self.pair: nn.Sequential | None = None
        if is_adapted:
            self.linear.requires_grad_(False)
            self.pair = nn.Sequential(
                nn.Linear(width, 1, bias=False), nn.Linear(1, width, bias=False)
            )

    def forward(self, x: Tensor) -> Tensor:
        """x: (batch, width)."""
        out = self.linear(x)
        if self.pair is not None:
            out = out + self.pair(x)
        return x + torch.relu(out)


class Net(nn.Module):
    """Layers one after another; what trains is all of it, the last layer, or the adapters."""

    def __init__(self, width: int, num_layers: int, share: Share) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            Layer(width, is_adapted=share == "LoRA") for _ in range(num_layers)
        )
        if share == "1/16":
            # The first one: a gradient then goes through all layers, as it does with adapters.
            self.layers[1:].requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the loss, a number. x: (batch, width)."""
        for layer in self.layers:
            x = layer(x)
        return x.square().mean()

    def num_params(self) -> tuple[int, int]:
        """Return how many parameters there are, and how many train."""
        sizes = [(param.numel(), param.requires_grad) for param in self.parameters()]
        return sum(size for size, _ in sizes), sum(size for size, trained in sizes if trained)
