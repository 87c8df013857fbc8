"""A module of torch as a pure function of its weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from harness.errors import SpecError

Weights = dict[str, Tensor]


def functional(module: nn.Module) -> tuple[Callable[..., Any], Weights]:
    """Return `call(weights, *args, **kwargs)` and the module's weights, without history.

    Works on any module and on models of transformers; weights that are tied stay tied, and buffers
    are constants. Raises SpecError for a module that would not be a function of its weights: batch
    norm with running statistics, or dropout that is on.
    """
    for name, child in module.named_modules():
        where = f"{name or 'the module'} ({type(child).__name__})"
        if isinstance(child, _BatchNorm) and child.track_running_stats and child.training:
            raise SpecError(
                f"{where} updates running statistics in each step: set track_running_stats=False,"
                " call eval(), or use group norm"
            )
        if isinstance(child, _DropoutNd) and child.training and child.p > 0.0:
            raise SpecError(f"{where} draws anew in each pass: call eval() or set p=0")
    buffers = {name: buffer.detach() for name, buffer in module.named_buffers()}

    def call(weights: Weights, *args: Any, **kwargs: Any) -> Any:
        return functional_call(module, (weights, buffers), args, kwargs)

    return call, {name: weight.detach() for name, weight in module.named_parameters()}
