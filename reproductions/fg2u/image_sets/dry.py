"""What a set of images would take, without computing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import torch
from torch import Tensor, nn

from harness.declare import DryRun
from harness.measure.dry_step import dry_step
from reproductions.fg2u.image_sets.params import Condensation
from reproductions.fg2u.image_sets.problem import MOMENTUM, first_weights, net_of, training_loss
from reproductions.fg2u.models.convnet import NUM_CLASSES, ConvNet


class _Weights(nn.Module):
    """A net's weights as a module."""

    def __init__(self, params: Condensation) -> None:
        super().__init__()
        self.own = nn.ParameterList(first_weights(params, torch.Generator().manual_seed(0)))


def dry_run(params: Condensation) -> DryRun:
    """Count the net and one inner step; a direction of (FG)2U takes twice a gradient's products."""
    step = _one_step(_shape_of(params))
    flops = step.step_flops * (1 + 2 * params.num_directions)
    return replace(step, step_flops=flops, num_steps=num_steps(params))


def _shape_of(params: Condensation) -> Condensation:
    """Return what an inner step hangs on; methods, depths and phases of a cell share it."""
    kept = {name: getattr(params, name) for name in ("image_size", "width", "num_blocks")}
    images = params.inner_batch or params.num_images or params.batch_size
    own = {field.name: getattr(params, field.name) for field in Condensation.fields()}
    others = {name: 0 for name, value in own.items() if not isinstance(value, str)}
    alike = {"device": "cpu", "method": "fg2u", "inner_batch": images}
    return Condensation(**(own | others | kept | alike))


@cache
def _one_step(shape: Condensation) -> DryRun:
    """Return the dry run of one inner step by a gradient."""
    net = net_of(shape)

    def loss_of(module: nn.Module) -> Callable[[], Tensor]:
        images = torch.zeros(shape.inner_batch, shape.channels, shape.image_size, shape.image_size)
        labels = torch.zeros(shape.inner_batch, dtype=torch.long)
        return lambda: training_loss(shape, list(module.parameters()), images, labels)

    # A ConvNet counts ten classes.
    more = shape.num_classes - NUM_CLASSES
    added = more * (net.num_features + 1) if isinstance(net, ConvNet) else 0
    return dry_step(
        _Weights(shape).to("meta"),
        lambda: _Weights(shape),
        optimizer=lambda module: torch.optim.SGD(module.parameters(), momentum=MOMENTUM),
        loss=loss_of,
        expected_num_params=net.num_weights + added,
        num_steps=1,
        copied=True,
    )


def num_steps(params: Condensation) -> int:
    """Return the inner steps of all estimates, and of the nets that judge."""
    unrolled = params.steps * max(1, params.accumulate * params.depth)
    return unrolled + params.num_nets * params.test_steps
