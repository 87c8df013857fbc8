"""The method as a library: it knows nothing of runs, and needs torch alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class WeightAverage:
    """A running mean of a net's weights (section 3.2, Algorithm 1)."""

    def __init__(self, model: nn.Module) -> None:
        self.mean = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
        self.count = 0

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Take in the weights of a model as they are now."""
        self.count += 1
        for name, weight in model.named_parameters():
            self.mean[name] += (weight - self.mean[name]) / self.count

    def apply(self, model: nn.Module, x: Tensor) -> Tensor:
        """Return what the model gives for x with the mean weights in place of its own."""
        return torch.func.functional_call(model, self.mean, (x,))
