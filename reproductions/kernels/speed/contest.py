"""What takes turns in a measurement, and what its outputs are held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from reproductions.kernels.backend import Backend, implementation
from reproductions.kernels.speed.experiment import COMPILED, CUDA, EAGER, TRITON

Inputs = Any
Outputs = Sequence[Tensor]
Bound = Callable[[], Outputs]
Bind = Callable[[Inputs], Bound]
"""From inputs to the call that is timed; what comes before it is not. It may work in place."""


class Contender(NamedTuple):
    """A way to make the call."""

    bind: Bind
    compared: bool = True
    """Whether its outputs are those of the others: other random numbers are not."""
    ours: bool = False
    """Whether it is a kernel of ours: what it raises is not put down to the machine."""
    compiles: bool = False
    """Whether it is made by torch.compile, and takes part where that does."""


class Contest(NamedTuple):
    """What takes turns."""

    draw: Callable[[torch.Generator], Inputs]
    """Inputs of a call."""
    change: Callable[[Inputs, Callable[[Tensor], Tensor]], Inputs]
    """The same inputs, a function applied to each tensor."""
    contenders: Mapping[str, Contender]
    reference: Bind
    """In plain torch, for inputs in float64."""
    length: int
    """How many numbers the longest sum adds."""


class Setting(NamedTuple):
    """Where and in which type."""

    dtype: torch.dtype
    device: torch.device

    def normal(self, *shape: int, generator: torch.Generator) -> Tensor:
        """Return normal numbers."""
        return self._drawn(torch.randn, shape, generator).to(self.dtype)

    def uniform(self, *shape: int, generator: torch.Generator) -> Tensor:
        """Return numbers between 0 and 1, in float32."""
        return self._drawn(torch.rand, shape, generator)

    def _drawn(
        self, draw: Callable[..., Tensor], shape: Sequence[int], generator: torch.Generator
    ) -> Tensor:
        """Draw on the device itself: a CPU takes minutes for the weights of a GPU's cases."""
        if self.device.type == "cuda":
            seed = int(torch.randint(2**62, (), generator=generator))
            generator = torch.Generator(self.device).manual_seed(seed)
        return draw(shape, generator=generator, device=self.device)


Call = Callable[[ModuleType, Inputs], Outputs]


def of_kernel(kernel: str, call: Call, *backends: Backend) -> dict[str, Contender]:
    """Return a kernel of ours: eager, compiled, by Triton, and by other backends that it has."""

    def bind_compiled(inputs: Inputs) -> Bound:
        plain = implementation(kernel, "plain")
        compiled = torch.compile(lambda given: call(plain, given), dynamic=False)
        return lambda: compiled(inputs)

    def bind_by(backend: Backend) -> Bind:
        def bind(inputs: Inputs) -> Bound:
            module = implementation(kernel, backend)
            return lambda: call(module, inputs)

        return bind

    return {
        EAGER: Contender(bind_by("plain")),
        COMPILED: Contender(bind_compiled, compiles=True),
        TRITON: Contender(bind_by("triton"), ours=True),
        **({CUDA: Contender(bind_by("cuda"), ours=True)} if "cuda" in backends else {}),
    }


def each_tensor(inputs: Inputs, change: Callable[[Tensor], Tensor]) -> Inputs:
    """Return inputs that are a tuple, its tensors changed."""
    return tuple(change(each) if isinstance(each, Tensor) else each for each in inputs)


def contest_of_call(
    kernel: str,
    draw: Callable[[torch.Generator], Inputs],
    call: Call,
    *,
    length: int,
    backends: Sequence[Backend] = (),
    peers: Mapping[str, Contender] | None = None,
    change: Callable[[Inputs, Callable[[Tensor], Tensor]], Inputs] = each_tensor,
) -> Contest:
    """Return a kernel of ours beside its peers; its plain torch in float64 is the reference."""
    ours = of_kernel(kernel, call, *backends)
    return Contest(
        draw=draw,
        change=change,
        contenders={**ours, **(peers or {})},
        reference=ours[EAGER].bind,
        length=length,
    )


def widened(tensor: Tensor) -> Tensor:
    """Return numbers in float64, and a copy of what is none."""
    return tensor.double() if tensor.is_floating_point() else tensor.clone()


def tensors_of(contest: Contest, given: Inputs) -> list[Tensor]:
    """Return the tensors among inputs, in their order."""
    found: list[Tensor] = []

    def seen(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    contest.change(given, seen)
    return found
