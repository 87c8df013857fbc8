"""Every kernel at odd sizes on a device: outputs, the same bits again, and what a checker finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc
from harness.declare.experiment import Device
from reproductions.kernels.cases import FLOAT32, KERNELS

Written = Literal["plain", "triton", "cuda"]
Checker = Literal["outputs", "memcheck", "racecheck"]
Type = Literal["float32", "bfloat16", "float16"]
IN_CUDA = ("masked_adamw", "rademacher", "layer_adamw", "shard_pack")
"""Kernels that have a second implementation; it has no float16."""
FAULT = "a fault on purpose"
"""Stands in the place of a kernel: a checker that finds nothing in it finds nothing."""


class Check(Params):
    """A kernel as a backend has it, in one type, at all its odd sizes."""

    kernel: str = doc("Kernel, by its task; or a fault on purpose, which a checker has to find.")
    backend: Written = doc(
        "plain: torch on a CPU; triton, cuda: ours, on a GPU; in a rehearsal Triton's interpreter"
        " on a CPU."
    )
    precision: Type = doc("Type of values, activations and gradients.")
    checker: Checker = doc("outputs: held against float64; else a tool of compute-sanitizer.")
    device: Device = doc("cpu: one thread; cuda: one GPU.")


def grid(profile: Profile) -> Iterator[Check]:
    """Yield all that we have on a GPU, held to float64; at `smoke` plain torch, for the path."""
    if profile == "smoke":
        for kernel in KERNELS:
            yield Check(
                kernel=kernel, backend="plain", precision="float32", checker="outputs",
                device="cpu",
            )  # fmt: skip
    elif profile == "gpu":
        yield from _checked("outputs", written())


def watched_grid(profile: Profile) -> Iterator[Check]:
    """Yield the same under each tool of compute-sanitizer, and a fault that it has to find."""
    checkers: tuple[Checker, ...] = ("memcheck", "racecheck") if profile == "gpu" else ()
    for checker in checkers:
        yield from _checked(checker, [*written(), (FAULT, "triton", "float32")])


def _checked(checker: Checker, found: Iterable[tuple[str, Written, Type]]) -> Iterator[Check]:
    for kernel, backend, precision in found:
        yield Check(
            kernel=kernel, backend=backend, precision=precision, checker=checker, device="cuda"
        )


def written() -> Iterator[tuple[str, Written, Type]]:
    """Yield each kernel as each backend has it, in each of its types; what methods take first."""
    backends: tuple[Written, ...] = ("triton", "cuda")
    for backend, kernel in product(backends, KERNELS):
        halves: tuple[Type, ...] = () if kernel in FLOAT32 else ("bfloat16", "float16")
        for precision in ("float32", *halves):
            if backend == "triton" or (kernel in IN_CUDA and precision != "float16"):
                yield kernel, backend, precision


def needs(check: Check) -> Needs:
    """Return what a GPU's kernels are compiled and watched by; without the latter rows say so.

    Outputs are asked for one after another, by one process as long as no kernel breaks it: to start
    another one takes longer than a kernel.
    """
    if check.device == "cpu":
        ours = check.backend != "plain"
        return Needs(packages=("triton",) if ours else (), exclusive=ours)
    return Needs(
        device="cuda", gpu_bytes=2**31, packages=("triton",), exclusive=check.checker == "outputs"
    )


COMPILED_S = {"rademacher": 8.0, "tangent_step": 2.0}
"""What Triton takes to compile kernels of many directions on many cores. On one it takes 18 and 3,
and two fifths of that it holds Python's lock, so that more cores cannot make it less."""


def estimate(check: Check) -> Estimate:
    """Return what it takes to compile for all sizes, most of it."""
    if check.checker != "outputs":
        return Estimate(seconds=25.0)
    if check.device == "cpu":
        return Estimate(seconds=0.5)
    more_s = COMPILED_S.get(check.kernel, 0.0) if check.backend == "triton" else 0.0
    return Estimate(seconds=1.0 + more_s)


checks = Experiment(
    "kernels/on_device",
    version=1,
    params=Check,
    grid=grid,
    run="trial:check_rows",
    seed_from=("kernel",),
    needs=needs,
    estimate=estimate,
    # One that hangs must leave the others some of a block's time.
    timeout_s=30.0,
    address=("kernel", "backend", "precision", "checker"),
)
watches = replace(checks, id="kernels/watched", grid=watched_grid, timeout_s=3600.0)
