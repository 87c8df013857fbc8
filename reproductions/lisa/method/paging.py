"""Moments of frozen blocks in the host's memory, where the device's has no room for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

State = dict[str, Any]


class HostStates:
    """An optimizer's states of parameters that it does not hold now."""

    def __init__(self) -> None:
        self._kept: dict[nn.Parameter, State] = {}

    @property
    def num_bytes(self) -> int:
        """Bytes of all tensors that are kept."""
        tensors = [v for state in self._kept.values() for v in state.values() if _is_tensor(v)]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def take(self, optimizer: Optimizer, parameters: Iterable[nn.Parameter]) -> None:
        """Move the states of parameters out of an optimizer, into pinned memory from a GPU."""
        for parameter in parameters:
            if state := optimizer.state.pop(parameter, None):
                self._kept[parameter] = {name: _on_host(value) for name, value in state.items()}

    def give_back(self, optimizer: Optimizer, parameters: Iterable[nn.Parameter]) -> None:
        """Move the states of parameters, where there are any, back to where those are."""
        for parameter in parameters:
            if state := self._kept.pop(parameter, None):
                optimizer.state[parameter] = {
                    name: _beside(parameter, name, value, optimizer.defaults)
                    for name, value in state.items()
                }

    def state_dict(self, order: Sequence[nn.Parameter]) -> dict[int, State]:
        """Return what is kept by a parameter's place in an order."""
        return {i: dict(self._kept[p]) for i, p in enumerate(order) if p in self._kept}

    def load_state_dict(self, stored: dict[int, State], order: Sequence[nn.Parameter]) -> None:
        """Take what `state_dict` returned, in place of what was kept."""
        self._kept = {
            order[place]: {name: _on_host(value) for name, value in state.items()}
            for place, state in stored.items()
        }


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def _on_host(value: Any) -> Any:
    if not _is_tensor(value) or not value.is_cuda:
        return value
    # Pinned, so that it goes both ways at the bus's full rate.
    return torch.empty_like(value, device="cpu", pin_memory=True).copy_(value)


def _beside(parameter: nn.Parameter, name: str, value: Any, defaults: dict[str, Any]) -> Any:
    # Torch counts steps on the CPU unless its optimizer runs whole on the device.
    stays = name == "step" and not (defaults.get("fused") or defaults.get("capturable"))
    if not _is_tensor(value) or stays:
        return value
    return value.to(parameter.device)
