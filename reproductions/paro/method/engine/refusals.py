"""Set-ups in which an engine would train something else, or nothing, without a word."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.optim import Optimizer

from harness.errors import SpecError

_WRAPPED: weakref.WeakSet[nn.Module] = weakref.WeakSet()
"""Modules of models that have an engine: its hooks stay as long as they live."""

RATE = 0.1
"""Of the steps that an optimizer is tried with, on numbers from 0.5 to 2."""


def refuse_wrapped(model: nn.Module) -> None:
    """Raise SpecError for a model that something averages, splits or gathers already."""
    for name, module in model.named_modules():
        where = f"{name or 'the model'} ({type(module).__name__})"
        if isinstance(module, (DataParallel, DistributedDataParallel)):
            raise SpecError(
                f"{where} averages gradients over ranks, which the engine does: hand in the module"
                " inside it"
            )
        if any(hasattr(param, "placements") for param in module.parameters(recurse=False)):
            raise SpecError(
                f"{where} is split by fully_shard or tensor parallelism: hand in a whole model, or"
                " keep that and use_two_layers (method/engine/fsdp2.py)"
            )
        if module in _WRAPPED:
            raise SpecError(
                f"{where} has an engine already, whose hooks would take the gradients of this one:"
                " make a new model, and load the checkpoint into that"
            )


def refuse_uneven(optimizer: Callable[[list[Any]], Optimizer], example: Tensor) -> None:
    """Raise SpecError for an optimizer that does not treat all entries alike.

    It would step a rank's flat part in another way than whole matrices, as Adafactor does. It is
    made three times more for this, and takes two steps on four numbers: whole, in halves and as a
    matrix, for which it may have a rule of its own; at a rate that shows in any type of numbers,
    where its own may be lost in their rounding.
    example: of what it will step.
    """
    start = torch.linspace(0.5, 2.0, 4).to(example)
    slope = torch.tensor([1.0, -0.1, 0.01, -10.0]).to(example)

    def stepped(*shape: int) -> Tensor:
        size = math.prod(shape)
        params = [nn.Parameter(part.clone().view(shape)) for part in torch.split(start, size)]
        made = optimizer(params)
        for group in made.param_groups:
            own = group.get("lr")
            if own is not None:
                group["lr"] = torch.full_like(own, RATE) if isinstance(own, Tensor) else RATE
        for _ in range(2):
            for param, grad in zip(params, torch.split(slope, size), strict=True):
                param.grad = grad.clone().view(shape)
            made.step()
        return torch.cat([param.detach().flatten() for param in params]) - start

    advice = "take one that treats all entries alike, such as AdamW or SGD"
    try:
        whole, *others = stepped(4), stepped(2), stepped(2, 2)
    except (TypeError, ValueError) as error:
        raise SpecError(f"optimizer cannot step flat parts ({error}): {advice}") from error
    if not all(torch.allclose(whole, other, rtol=0.01) for other in others):
        raise SpecError(
            "optimizer steps a matrix in another way than its parts, and a rank has flat parts:"
            f" {advice}"
        )


def refuse_left_out(optimizer: Optimizer, parts: Sequence[nn.Parameter]) -> None:
    """Raise SpecError for an optimizer over anything but a rank's parts, which would not move."""
    held = [id(each) for group in optimizer.param_groups for each in group["params"]]
    if sorted(held) != sorted(map(id, parts)):
        raise SpecError(
            "optimizer made one over other tensors than the parts that it is called with, and the"
            " model would not train: build it over that list, as partial(torch.optim.AdamW, lr=..)"
        )


def guard(model: nn.Module, *, is_split: bool, has_copies: bool) -> None:
    """Have a wrapped model raise SpecError where a state dict would be of NaN, or be lost.

    is_split: whether parameters are elsewhere between passes; has_copies: whether the optimizer
    has its own, which go over them at the next step.
    """

    def refuse_reading(*_: Any) -> None:
        raise SpecError(
            "parameters of a split model are on other ranks and read NaN here: take"
            " engine.state_dict() on all ranks (save_pretrained(folder, state_dict=...))"
        )

    def refuse_writing(*_: Any) -> None:
        raise SpecError(
            "a state dict loaded into a wrapped model would be lost at the next step: load it"
            " before the model is wrapped, or a checkpoint by checkpoint.load(engine, folder)"
        )

    _WRAPPED.update(model.modules())
    for module in model.modules():
        if is_split:
            module.register_state_dict_pre_hook(refuse_reading)  # type: ignore[no-untyped-call]
        if is_split or has_copies:
            module.register_load_state_dict_pre_hook(refuse_writing)  # type: ignore[no-untyped-call]
