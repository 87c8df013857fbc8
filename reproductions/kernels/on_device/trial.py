"""From a kernel to rows: whether its outputs are those of float64, at each odd size."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from harness.errors import EnvError, RunError
from reproductions.kernels.backend import choose
from reproductions.kernels.cases import Case
from reproductions.kernels.on_device.calls import (
    DTYPES,
    Bands,
    OddCall,
    Returned,
    expected,
    made,
    odd_calls,
)
from reproductions.kernels.on_device.experiment import Check
from reproductions.kernels.on_device.sanitizer import errors_under
from reproductions.kernels.on_device.sizes import cases_of
from reproductions.kernels.precision import ROUNDING, share_of_allowed
from reproductions.kernels.speed.contest import Setting, widened

EVERY_CASE = "all of them"
REPEATS = 3
"""Calls on the same inputs, whose bits are compared: a race shows now and then."""
BAND_BYTES = 1024
EMPTY: Row = dict.fromkeys((
    "chosen", "agrees", "repeats", "stray_bytes", "num_errors", "told", "release", "error",
))  # fmt: skip
"""What rows of one kind leave to those of the other."""


def check_rows(check: Check, ctx: RunContext) -> list[Row]:
    """Call a kernel at all its odd sizes: return a row for each, or what a checker counts.

    Raises RunError, by the kernel's name, where a call fails: that of one is not that of another.
    """
    try:
        if check.checker == "outputs":
            cases = cases_of(check.kernel, check.device, check.backend)
            return rows_of(check, cases, ctx.seed("inputs"))
        return [{**EMPTY, "case": EVERY_CASE, "inputs": EVERY_CASE, **errors_under(check)}]
    except (EnvError, torch.OutOfMemoryError):
        raise  # what the machine lacks, it lacks for all
    except Exception as error:
        name = f"{check.kernel} by {check.backend} in {check.precision}"
        raise RunError(f"{name}: {type(error).__name__}: {error}") from error


def rows_of(check: Check, cases: Sequence[Case], seed: int) -> list[Row]:
    """Return a row per case and kind of inputs."""
    setting = Setting(DTYPES[check.precision], torch.device(check.device))
    generator = torch.Generator().manual_seed(seed)
    calls: Iterable[OddCall] = odd_calls(cases, check.backend, setting, generator)
    if (check.device, check.backend) == ("cuda", "triton"):
        calls = list(calls)
        compile_ahead(calls)
    return [
        {
            **EMPTY,
            "case": call.case.name,
            "inputs": call.inputs,
            "chosen": choose(setting.device),
            **_held(call, check.backend, setting),
        }
        for call in calls
    ]


def compile_ahead(calls: Iterable[OddCall]) -> None:
    """Compile what calls launch by Triton, in a thread per core; nothing is launched.

    Random signs alone are compiled in 36 ways: with one direction or more, of one entry, of
    multiples of 16 or of others, at aligned addresses or at others. What cannot be compiled fails
    where it is launched, under its own name.
    """
    import triton
    from triton.runtime import JITFunction

    run = JITFunction.run

    def compiled(kernel: Any, *given: Any, warmup: bool, **named: Any) -> Any:
        return run(kernel, *given, warmup=True, **named)

    with (
        ThreadPoolExecutor(os.cpu_count()) as pool,
        # With an error Triton 3.6 would stay in this mode, and refuse all kernels that follow.
        triton.AsyncCompileMode(pool, ignore_errors=True),
        patch.object(JITFunction, "run", compiled),
    ):
        for call in calls:
            made(call, "triton", Bands(num_bytes=BAND_BYTES, shift=call.shift).place)


def _held(call: OddCall, backend: str, setting: Setting) -> Row:
    """Return how far a call is from float64, whether it comes again, and what it touches."""
    bands = Bands(num_bytes=BAND_BYTES, shift=call.shift)
    try:
        first, *others = [made(call, backend, bands.place) for _ in range(REPEATS)]
    except EnvError as error:
        # A compiler that is not there is a lack of the machine, and no fault of a kernel.
        return {"missing": str(error)}
    worst = _worst(first, expected(call, widened), setting.dtype, call.contest.length)
    return {
        "error": worst,
        "agrees": worst <= 1.0,
        "repeats": all(_same_bits(first, other) for other in others),
        "stray_bytes": bands.num_touched,
        "missing": "",
    }


def _worst(found: Returned, wanted: Returned, dtype: torch.dtype, length: int) -> float:
    """Return the largest difference as a share of what is allowed.

    dtype: what is computed in; an output of another type is no better than that. What is changed in
    place is changed entry by entry, in its own type.
    """
    outputs = [
        share_of_allowed(one, other, dtype=_coarser(dtype, one.dtype), length=max(length, 1))
        for one, other in zip(found.outputs, wanted.outputs, strict=True)
    ]
    inputs = [
        share_of_allowed(one, other, dtype=one.dtype, length=1)
        for one, other in zip(found.inputs, wanted.inputs, strict=True)
    ]
    return max([*outputs, *inputs])


def _coarser(one: torch.dtype, other: torch.dtype) -> torch.dtype:
    return max(one, other, key=lambda dtype: ROUNDING.get(dtype, 0.0))


def _same_bits(one: Returned, other: Returned) -> bool:
    pairs = zip((*one.outputs, *one.inputs), (*other.outputs, *other.inputs), strict=True)
    return all(torch.equal(_bits(first), _bits(second)) for first, second in pairs)


def _bits(tensor: Tensor) -> Tensor:
    return tensor.detach().contiguous().view(-1).view(torch.uint8)
