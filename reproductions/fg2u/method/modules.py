"""A module of torch as a pure function of its weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.dropout import _DropoutNd

from harness.errors import SpecError

Weights = dict[str, Tensor]


def functional(module: nn.Module) -> tuple[Callable[..., Any], Weights]:
    """Return `call(weights, *args, **kwargs)` and the module's weights, without history.

    Works on any module and on models of transformers; weights that are tied stay tied. Buffers and
    frozen weights (`requires_grad` off) are constants. Raises SpecError for a module that would not
    be a function of its weights: a norm with running statistics, or dropout that is on.
    """
    for name, child in module.named_modules():
        where = f"{name or 'the module'} ({type(child).__name__})"
        if isinstance(child, _NormBase) and child.track_running_stats and child.training:
            raise SpecError(
                f"{where} updates running statistics in each step: set track_running_stats=False,"
                " call eval(), or use group norm"
            )
        rate = child.p if isinstance(child, _DropoutNd) else getattr(child, "dropout", 0.0)
        if child.training and isinstance(rate, float) and rate > 0.0:
            raise SpecError(f"{where} draws anew in each pass: call eval() or set p=0")
    weights = {name: weight.detach() for name, weight in _weights(module, frozen=False)}
    constants = {name: value.detach() for name, value in module.named_buffers()}
    constants |= {name: weight.detach() for name, weight in _weights(module, frozen=True)}

    def call(weights: Weights, *args: Any, **kwargs: Any) -> Any:
        return functional_call(module, (weights, constants), args, kwargs)

    return call, weights


def _weights(module: nn.Module, *, frozen: bool) -> Iterator[tuple[str, nn.Parameter]]:
    for name, weight in module.named_parameters():
        if weight.requires_grad != frozen:
            yield name, weight
