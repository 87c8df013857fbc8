"""A module of torch as a pure function of its weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.parallel import DataParallel, DistributedDataParallel

from harness.errors import SpecError
from reproductions.nets.borrowed import run_without

Weights = dict[str, Tensor]


def functional(module: nn.Module) -> tuple[Callable[..., Any], Weights]:
    """Return `call(weights, *args, **kwargs)` and the module's weights, without history.

    Works on any module and on models of transformers; weights that are tied stay tied. Buffers and
    frozen weights (`requires_grad` off) are constants. Raises SpecError for a module that would not
    be a function of its weights: a norm with running statistics, or dropout that is on; and for one
    that is wrapped for ranks, split over them, or compiled. `call` raises it where the module
    computes with weights that a function inside it holds on to, or changes a buffer in place.
    """
    for name, child in module.named_modules():
        where = f"{name or 'the module'} ({type(child).__name__})"
        _refuse_wrapped(child, where)
        if isinstance(child, _NormBase) and child.track_running_stats and child.training:
            raise SpecError(
                f"{where} updates running statistics in each step: set track_running_stats=False,"
                " call eval(), or use group norm"
            )
        if child.training and _drops(child):
            raise SpecError(f"{where} draws anew in each pass: call eval() or set p=0")
    # Of their own: so it shows where a call computes with the module's.
    weights = {name: weight.detach().clone() for name, weight in _weights(module, frozen=False)}
    buffers = {name: value.detach().clone() for name, value in module.named_buffers()}
    constants = buffers | {name: w.detach() for name, w in _weights(module, frozen=True)}

    looked_at = False

    def call(weights: Weights, *args: Any, **kwargs: Any) -> Any:
        nonlocal looked_at
        run = partial(functional_call, module, (weights, constants), args, kwargs)
        before = {name: value._version for name, value in buffers.items()}
        result = run() if looked_at else run_without(dict(_weights(module, frozen=False)), run)
        if written := [name for name, value in buffers.items() if value._version > before[name]]:
            raise SpecError(
                f"the module changes its buffer {written[0]} in each pass, as spectral norm does"
                " while it trains: call eval() on it before functional"
            )
        looked_at = True
        return result

    return call, weights


def _drops(module: nn.Module) -> bool:
    """Say whether a module has a rate of dropout, by the names that torch and transformers use."""
    names = ("p",) if isinstance(module, _DropoutNd) else ("dropout", "attention_dropout")
    rates = [getattr(module, name, 0.0) for name in names]
    return any(isinstance(rate, float) and rate > 0.0 for rate in rates)


def _refuse_wrapped(module: nn.Module, where: str) -> None:
    if isinstance(module, (DataParallel, DistributedDataParallel)):
        raise SpecError(
            f"{where} averages gradients of a backward pass, and a hypergradient has none: hand in"
            " the module inside it, and share directions by workers=all_workers()"
        )
    if any(hasattr(weight, "placements") for weight in module.parameters(recurse=False)):
        raise SpecError(
            f"{where} is split over ranks by fully_shard or tensor parallelism, which an unroll"
            " cannot follow: hand in a whole module on each rank"
        )
    # What torch.compile returns; its class is imported with the compiler alone.
    if type(module).__name__ == "OptimizedModule":
        raise SpecError(
            f"{where} is compiled, and graphs of torch.compile have no second derivative: hand in"
            " the module as it was before"
        )


def _weights(module: nn.Module, *, frozen: bool) -> Iterator[tuple[str, nn.Parameter]]:
    for name, weight in module.named_parameters():
        if weight.requires_grad != frozen:
            yield name, weight
