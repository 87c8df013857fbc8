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
    real: nn.Module,
    build: Callable[[], M],
    *,
    optimizer: Callable[[M], torch.optim.Optimizer],
    loss: Callable[[M], Callable[[], Tensor]],
    expected_num_params: int,
    num_steps: int,
    num_micro_batches: int = 1,
    copied: bool = False,
) -> DryRun:
    """Return what a step takes, of a model built on the meta device and another on fake tensors.

    real: on the meta device, to count. build: makes the model that takes the step, called where
    tensors allocate nothing; with `copied` it is called before and its model copied there, for
    nets that cannot be drawn so, since batch norm makes its counters as plain tensors.
    loss: from the model to a function that makes the loss of a (micro-)batch.
    expected_num_params: by the closed form.
    """
    from torch._subclasses.fake_tensor import FakeCopyMode, FakeTensorMode
    from torch.utils.flop_counter import FlopCounterMode

    from harness.measure.memory import count_bytes

    mode = FakeTensorMode()
    if copied:
        with FakeCopyMode(mode):
            model = copy.deepcopy(build())
    with mode, FlopCounterMode(display=False) as counter:
        model = model if copied else build()
        memory = count_bytes(model, optimizer(model), loss(model))
    return DryRun(
        num_params=sum(parameter.numel() for parameter in real.parameters()),
        expected_num_params=expected_num_params,
        memory_bytes=memory.total,
        step_flops=counter.get_total_flops() * num_micro_batches,
        num_steps=num_steps,
    )
