"""From a kernel to rows: whether its outputs are those of float64, at each size."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from harness.errors import EnvError
from reproductions.kernels.backend import chosen
from reproductions.kernels.cases import Case
from reproductions.kernels.speed.contest import Contest, Inputs, Setting
from reproductions.kernels.speed.experiment import CUDA, EAGER, TRITON
from reproductions.kernels.speed.on_device.experiment import Check
from reproductions.kernels.speed.on_device.sizes import ENTRYWISE, ODD
from reproductions.kernels.speed.trial import DTYPES, _widened, contest_of
from reproductions.kernels.speed.trial import _error as distance

NAMES = {"plain": EAGER, "triton": TRITON, "cuda": CUDA}
FOLDERS = {"masked_adamw": "adamw", "layer_adamw": "adamw"}
"""Where a task's kernel lies, if not in a folder of its name."""
REPEATS = 5
"""Calls on the same inputs, whose bits are compared: a race would show now and then."""


def check_rows(check: Check, ctx: RunContext) -> list[Row]:
    """Call a kernel at all its odd sizes and return a row for each."""
    return rows_of(check, ODD[check.kernel], ctx.seed("inputs"))


def rows_of(check: Check, cases: Sequence[Case], seed: int) -> list[Row]:
    """Return a row per case, and one more with what is no number where entries do not mix."""
    setting = Setting(DTYPES[check.precision], torch.device(check.device))
    folder = FOLDERS.get(check.kernel, check.kernel)
    module = chosen(folder, setting.device).__name__.rpartition(".")[2]
    generator = torch.Generator().manual_seed(seed)
    rows: list[Row] = []
    for case in cases:
        contest, name = contest_of(case, setting), NAMES[check.backend]
        if name not in contest.contenders:
            continue
        for odd in (False, True) if check.kernel in ENTRYWISE else (False,):
            inputs = contest.draw(generator)
            if odd:
                inputs = contest.change(inputs, _with_odd_numbers)
            place = {"case": case.name, "call": case.call, "odd_numbers": odd, "chosen": module}
            rows.append({**place, **_held(contest, name, inputs, setting)})
    return rows


def _with_odd_numbers(tensor: Tensor) -> Tensor:
    """Return numbers with NaN and both infinities here and there; others as they are."""
    if not tensor.is_floating_point() or tensor.ndim == 0:
        return tensor
    changed = tensor.clone()
    for start, odd in ((2, math.nan), (5, math.inf), (11, -math.inf)):
        changed.view(-1)[start::97] = odd
    return changed


def _held(contest: Contest, name: str, inputs: Inputs, setting: Setting) -> Row:
    """Return how far outputs are from those of float64, and whether they come again."""
    bind = contest.contenders[name].bind
    try:
        runs = [bind(contest.change(inputs, Tensor.clone))() for _ in range(REPEATS)]
    except EnvError as error:
        # A compiler that is not there is a lack of the machine, and no fault of a kernel.
        return {"missing": str(error)}
    wanted = contest.reference(contest.change(inputs, _widened))()
    worst = max(
        _error(found, right, setting, contest.length)
        for found, right in zip(runs[0], wanted, strict=True)
    )
    again = (pair for other in runs[1:] for pair in zip(runs[0], other, strict=True))
    return {
        "error": worst,
        "agrees": worst <= 1.0,
        "repeats": all(_same_bits(one, other) for one, other in again),
        "missing": "",
    }


def _error(found: Tensor, wanted: Tensor, setting: Setting, length: int) -> float:
    """Return the largest difference as a share of what is allowed; infinite where NaN or infinity
    stand elsewhere than wanted."""
    found = found.double()
    plain = wanted.isfinite()
    if not torch.equal(found.nan_to_num(1.5, 2.5, -2.5)[~plain],
                       wanted.double().nan_to_num(1.5, 2.5, -2.5)[~plain]):  # fmt: skip
        return math.inf
    return distance(found.where(plain, 0), wanted.where(plain, 0), dtype=setting.dtype,
                    length=max(length, 1))  # fmt: skip


def _same_bits(one: Tensor, other: Tensor) -> bool:
    first, second = (each.contiguous().reshape(-1).view(torch.uint8) for each in (one, other))
    return torch.equal(first, second)
