"""Moments of frozen blocks in the host's memory, where the device's has no room for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from harness.errors import SpecError

State = dict[str, Any]


class HostStates:
    """An optimizer's states of parameters that it does not hold now.

    Numbers and tensors of one number, such as torch's counter of steps, stay where they are: they
    take no room, and optimizers differ in where they want them.
    """

    def __init__(self) -> None:
        self._kept: dict[nn.Parameter, State] = {}

    def take(self, optimizer: Optimizer, parameters: Iterable[nn.Parameter]) -> None:
        """Move the states of parameters out of an optimizer, into pinned memory from a GPU.

        Raises SpecError for a state that is no plain value, whose tensors would stay behind.
        """
        for parameter in parameters:
            if state := optimizer.state.get(parameter):
                self._kept[parameter] = {
                    name: _on_host(value) if _has_size(optimizer, name, value) else value
                    for name, value in state.items()
                }
            optimizer.state.pop(parameter, None)

    def give_back(self, optimizer: Optimizer, parameters: Iterable[nn.Parameter]) -> None:
        """Move the states of parameters, where there are any, back to where those are.

        The optimizer's groups hold the parameters already.
        """
        groups = {id(p): group for group in optimizer.param_groups for p in group["params"]}
        for parameter in parameters:
            if state := self._kept.pop(parameter, None):
                group = groups[id(parameter)]
                optimizer.state[parameter] = {
                    name: _beside(parameter, value, group) for name, value in state.items()
                }

    def state_dict(self, order: Sequence[nn.Parameter]) -> dict[int, State]:
        """Return what is kept by a parameter's place in an order."""
        return {i: dict(self._kept[p]) for i, p in enumerate(order) if p in self._kept}

    def load_state_dict(self, stored: dict[int, State], order: Sequence[nn.Parameter]) -> None:
        """Take what `state_dict` returned, in place of what was kept."""
        # A trainer may have moved everything in its checkpoint to a GPU.
        self._kept = {
            order[place]: {name: _on_host(value) for name, value in state.items()}
            for place, state in stored.items()
        }


def _has_size(optimizer: Optimizer, name: str, value: Any) -> bool:
    if not isinstance(value, Tensor | int | float | str | None):
        raise SpecError(
            f"policy='page_refrozen' moves tensors, and {name!r} of {type(optimizer).__name__} is a"
            f" {type(value).__name__}: take another policy"
        )
    return isinstance(value, Tensor) and value.dim() > 0


def _on_host(value: Any) -> Any:
    if not isinstance(value, Tensor) or value.device.type in ("cpu", "meta"):
        return value
    # Pinned, so that it goes both ways at the bus's full rate.
    return torch.empty_like(value, device="cpu", pin_memory=value.is_cuda).copy_(value)


def _beside(parameter: nn.Parameter, value: Any, group: State) -> Any:
    # Torch counts steps on the CPU unless its optimizer runs whole on the device.
    on_device = group.get("fused") or group.get("capturable")
    if not isinstance(value, Tensor) or not (value.dim() or on_device):
        return value
    return value.to(parameter.device)
