"""Small networks and images for tests of the valley library."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from reproductions.asymvalley.method.data import ValleyData


def small_net(*, batch_norm: bool = True, seed: int = 0, dropout: float = 0.0) -> nn.Sequential:
    """Return two convolutions and a linear layer, drawn from a generator."""
    norms = (nn.BatchNorm2d(4), nn.BatchNorm2d(6)) if batch_norm else (nn.Identity(), nn.Identity())
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), norms[0], nn.ReLU(), nn.Dropout(dropout),
        nn.Conv2d(4, 6, 3), norms[1], nn.ReLU(),
        nn.Flatten(), nn.Linear(6 * 4 * 4, 3),
    )  # fmt: skip
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in net.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(noise * 0.3 + (1.0 if parameter.dim() == 1 else 0.0))
    return net.eval()


def small_data(*, num_test: int = 30, num_statistics: int = 24) -> ValleyData:
    """Return random images of 8 x 8 with three labels."""
    generator = torch.Generator().manual_seed(1)

    def draw(count: int) -> Tensor:
        return torch.randn(count, 1, 8, 8, generator=generator) * 2.0 + 0.5

    return ValleyData(
        test_images=draw(num_test),
        test_labels=torch.randint(0, 3, (num_test,), generator=generator),
        statistics_images=draw(num_statistics),
        batch_size=10,
    )


def state_of(model: nn.Module) -> dict[str, Tensor]:
    """Return a copy of all parameters and buffers."""
    return {name: value.clone() for name, value in model.state_dict().items()}
