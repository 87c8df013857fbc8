"""FedPAN's position encodings: every hidden channel learns where in its layer it stands."""

from __future__ import annotations

import math
from typing import Literal, cast, get_args

import torch
from torch import Tensor, nn

from harness.errors import SpecError

Operation = Literal["add", "mul"]


class PositionEncoding(nn.Module):
    """Adds A sin(2 pi T j / n) to channel j of n, or multiplies it by one plus that.

    Without state: nothing of it is learned, averaged or sent.
    Source: FedPAN (lxcnju/FedPAN), as paper section 6.2 cites it.
    """

    def __init__(self, *, cycles: int, operation: Operation, amplitude: float) -> None:
        """Raise SpecError for an unknown operation, negative cycles or amplitude."""
        super().__init__()
        if operation not in get_args(Operation) or cycles < 0 or amplitude < 0.0:
            raise SpecError(
                f"position encoding of cycles={cycles}, operation={operation!r},"
                f" amplitude={amplitude}: need 'add' or 'mul', and no negative numbers"
            )
        self.cycles, self.operation, self.amplitude = cycles, operation, amplitude
        self._codes: dict[tuple[object, ...], Tensor] = {}

    def forward(self, x_BC: Tensor) -> Tensor:
        """Return the input with its channels encoded; channels are dimension 1."""
        code = self._code(x_BC)
        return x_BC + code if self.operation == "add" else x_BC * (1.0 + code)

    def _code(self, x_BC: Tensor) -> Tensor:
        count, trailing = x_BC.shape[1], x_BC.dim() - 2
        key = (count, trailing, x_BC.dtype, x_BC.device)
        if key not in self._codes:
            place = torch.arange(count, dtype=torch.float64) / count
            code = self.amplitude * torch.sin(2.0 * math.pi * self.cycles * place)
            code = code.to(x_BC.device, x_BC.dtype)
            self._codes[key] = code.view(1, count, *([1] * trailing))
        return self._codes[key]


def parse_encoding(text: str) -> PositionEncoding:
    """Return the encoding written as cycles:operation:amplitude, such as 1:mul:0.05."""
    try:
        cycles, operation, amplitude = text.split(":")
        return PositionEncoding(
            cycles=int(cycles), operation=cast(Operation, operation), amplitude=float(amplitude)
        )
    except ValueError as error:
        raise SpecError(
            f"position encoding {text!r}: need cycles:add|mul:amplitude ({error})"
        ) from error


def encode_channels(module: nn.Module, encoding: nn.Module) -> int:
    """Put an encoding before every ReLU of a net; return how many.

    Into the `position` slots of its blocks where it has such, else in front of its ReLU modules.
    Neither has parameters, so the names in the state stay. Raises SpecError for a net with neither.
    """
    owners = [part for part in module.modules() if "position" in part._modules]
    for owner in owners:
        owner.position = encoding
    if owners:
        return len(owners)
    places = [
        (part, name)
        for part in module.modules()
        for name, child in part.named_children()
        if isinstance(child, nn.ReLU)
    ]
    if not places:
        raise SpecError(
            "this net has neither `position` slots nor ReLU modules: FedPAN cannot encode it"
        )
    for part, name in places:
        setattr(part, name, nn.Sequential(encoding, part.get_submodule(name)))
    return len(places)
