"""The odd calls of a kernel: where its inputs lie, what is among them, and what comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from types import ModuleType
from typing import NamedTuple

import torch
from torch import Tensor

from reproductions.kernels.cases import Case
from reproductions.kernels.on_device.sizes import ENTRYWISE
from reproductions.kernels.speed import trial
from reproductions.kernels.speed.contest import (
    Contest,
    Inputs,
    Setting,
    of_kernel,
    tensors_of,
)
from reproductions.kernels.speed.experiment import CUDA, EAGER, TRITON
from reproductions.kernels.speed.steps import SETTINGS

NAMES = {"plain": EAGER, "triton": TRITON, "cuda": CUDA}
"""What a contest calls a backend."""
DTYPES = {**trial.DTYPES, "float16": torch.float16}
ALIGNED, SHIFTED, NO_NUMBERS = "aligned", "an entry further", "an entry further, some no numbers"
"""Where inputs lie, and what is among them."""
UNTOUCHED = 0xFF
"""What bands are filled with: NaN in every type of numbers."""


class OddCall(NamedTuple):
    """A call of a kernel."""

    case: Case
    inputs: str
    """Where they lie, and what is among them."""
    contest: Contest
    given: Inputs

    @property
    def shift(self) -> int:
        """Return how many entries after a multiple of 16 bytes every input starts."""
        return 0 if self.inputs == ALIGNED else 1


class Returned(NamedTuple):
    """What a call leaves."""

    outputs: Sequence[Tensor]
    inputs: Sequence[Tensor]
    """Afterwards: some calls work in place."""


def odd_calls(
    cases: Sequence[Case], backend: str, setting: Setting, generator: torch.Generator
) -> Iterator[OddCall]:
    """Yield the calls that a backend has, each case with its inputs at addresses of two kinds."""
    for case in cases:
        contest = contest_with_norms(case, setting)
        if NAMES[backend] not in contest.contenders:
            continue
        for inputs in (ALIGNED, SHIFTED):
            yield OddCall(case, inputs, contest, contest.draw(generator))
        if case.kernel in ENTRYWISE:
            given = with_no_numbers(contest, contest.draw(generator))
            yield OddCall(case, NO_NUMBERS, contest, given)


def contest_with_norms(case: Case, setting: Setting) -> Contest:
    """Return a case's contest; AdamW gives norms too, which races leave out."""
    contest = trial.contest_of(case, setting)
    if case.kernel not in ("masked_adamw", "layer_adamw") and case.call != "step":
        return contest

    def step(module: ModuleType, weights: Inputs) -> list[Tensor]:
        return [module.step_(weights, SETTINGS, 1)]

    ours = of_kernel("adamw", step, "cuda")
    return contest._replace(
        contenders=ours, reference=ours[EAGER].bind, length=case.sizes["entries"]
    )


def with_no_numbers(contest: Contest, given: Inputs) -> Inputs:
    """Return inputs with NaN and both infinities here and there, in each tensor elsewhere."""
    shifts = count(0, 3)

    def spoilt(tensor: Tensor) -> Tensor:
        if not tensor.is_floating_point():
            return tensor
        changed, shift = tensor.clone(), next(shifts)
        for place, odd in enumerate((math.nan, math.inf, -math.inf)):
            changed.view(-1)[shift + place :: 97] = odd
        return changed

    return contest.change(given, spoilt)


class Bands:
    """Places tensors between bands that nobody may touch: on a GPU each in its own memory."""

    def __init__(self, *, num_bytes: int, shift: int) -> None:
        """Take how wide bands are, in whole multiples of 16, and after how many more entries
        tensors start."""
        self._num_bytes, self._shift = num_bytes, shift
        self._bands: list[Tensor] = []

    def place(self, tensor: Tensor) -> Tensor:
        """Return a copy of a tensor between bands."""
        start = self._num_bytes + self._shift * tensor.itemsize
        end = start + tensor.numel() * tensor.itemsize
        raw = torch.full(
            (end + self._num_bytes,), UNTOUCHED, dtype=torch.uint8, device=tensor.device
        )
        self._bands += [raw[:start], raw[end:]]
        return raw[start:end].view(tensor.dtype).view(tensor.shape).copy_(tensor)

    @property
    def num_touched(self) -> int:
        """Return how many bytes of the bands are not what they were."""
        return sum(int((band != UNTOUCHED).sum()) for band in self._bands)


def made(call: OddCall, backend: str, place: Callable[[Tensor], Tensor]) -> Returned:
    """Make a call with a copy of its inputs."""
    given = call.contest.change(call.given, place)
    outputs = call.contest.contenders[NAMES[backend]].bind(given)()
    return Returned(outputs, tensors_of(call.contest, given))


def expected(call: OddCall, widened: Callable[[Tensor], Tensor]) -> Returned:
    """Make a call in plain torch, in float64."""
    given = call.contest.change(call.given, widened)
    outputs = call.contest.reference(given)()
    return Returned(outputs, tensors_of(call.contest, given))
