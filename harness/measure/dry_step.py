"""One training step without computing it: memory, operations, and parameters counted."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from harness.declare.experiment import DryRun

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

M = TypeVar("M", bound="nn.Module")


def dry_step(
    build: Callable[[str], M],
    optimizer: Callable[[M], torch.optim.Optimizer],
    loss: Callable[[M], Callable[[], Tensor]],
    *,
    expected_num_params: int,
    num_steps: int,
    num_micro_batches: int = 1,
) -> DryRun:
    """Return what a step takes, from the model built on the meta device and on fake tensors.

    build: from a device to the model; loss: from the model to a function that makes a (micro-)
    batch's loss. Both are called where tensors allocate nothing.
    expected_num_params: by the closed form.
    """
    from torch._subclasses.fake_tensor import FakeCopyMode, FakeTensorMode
    from torch.utils.flop_counter import FlopCounterMode

    from harness.measure.memory import count_bytes

    real, mode = build("meta"), FakeTensorMode()
    # A net with counters cannot be drawn under the mode: these are made as plain tensors.
    with FakeCopyMode(mode):
        model = copy.deepcopy(build("cpu"))
    with mode, FlopCounterMode(display=False) as counter:
        memory = count_bytes(model, optimizer(model), loss(model))
    return DryRun(
        num_params=sum(parameter.numel() for parameter in real.parameters()),
        expected_num_params=expected_num_params,
        memory_bytes=memory.total,
        step_flops=counter.get_total_flops() * num_micro_batches,
        num_steps=num_steps,
    )
