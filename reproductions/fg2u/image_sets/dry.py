"""What a set of images would take, without computing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from harness.declare import DryRun
from harness.measure.dry_step import dry_step
from reproductions.fg2u.image_sets.experiment import Condensation
from reproductions.fg2u.image_sets.problem import MOMENTUM, first_weights, net_of, training_loss
from reproductions.fg2u.models.convnet import NUM_CLASSES


class _Weights(nn.Module):
    """A net's weights as a module."""

    def __init__(self, params: Condensation) -> None:
        super().__init__()
        self.own = nn.ParameterList(first_weights(params, torch.Generator().manual_seed(0)))


def dry_run(params: Condensation) -> DryRun:
    """Count the net and one inner step; a direction of (FG)2U takes twice a gradient's products."""
    here = replace(params, device="cpu")
    net, size = net_of(here), params.inner_batch or params.num_images or params.batch_size

    def loss_of(module: nn.Module) -> Callable[[], Tensor]:
        images = torch.zeros(size, params.channels, params.image_size, params.image_size)
        labels = torch.zeros(size, dtype=torch.long)
        return lambda: training_loss(here, list(module.parameters()), images, labels)

    features = net.num_features + 1
    return dry_step(
        _Weights(here).to("meta"),
        lambda: _Weights(here),
        optimizer=lambda module: torch.optim.SGD(
            module.parameters(), lr=params.inner_lr, momentum=MOMENTUM
        ),
        loss=loss_of,
        expected_num_params=net.num_weights + (params.num_classes - NUM_CLASSES) * features,
        num_steps=num_steps(params),
        num_micro_batches=1 + 2 * params.num_directions,
        copied=True,
    )


def num_steps(params: Condensation) -> int:
    """Return the inner steps of all estimates, and of the nets that judge."""
    unrolled = params.steps * max(1, params.accumulate * params.depth)
    return unrolled + params.num_nets * params.test_steps
