"""Every kernel at odd sizes on a device: outputs, the same bits again, and what a checker finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
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
    """Yield each kernel as each backend has it, in each of its types."""
    for kernel in KERNELS:
        halves: tuple[Type, ...] = () if kernel in FLOAT32 else ("bfloat16", "float16")
        for precision in ("float32", *halves):
            yield kernel, "triton", precision
            if kernel in IN_CUDA and precision != "float16":
                yield kernel, "cuda", precision


def needs(check: Check) -> Needs:
    """Return what a GPU's kernels are compiled and watched by; without the latter rows say so."""
    if check.device == "cpu":
        return Needs(packages=() if check.backend == "plain" else ("triton",))
    return Needs(device="cuda", gpu_bytes=2**31, packages=("triton",))


def estimate(check: Check) -> Estimate:
    """Return what it takes to compile for all sizes, most of it."""
    seconds = {"outputs": 15.0, "memcheck": 25.0, "racecheck": 25.0}[check.checker]
    return Estimate(seconds=0.5 if check.device == "cpu" else seconds)


checks = Experiment(
    "kernels/on_device",
    version=1,
    params=Check,
    grid=grid,
    run="trial:check_rows",
    seed_from=("kernel",),
    needs=needs,
    estimate=estimate,
    address=("kernel", "backend", "precision", "checker"),
)
watches = replace(checks, id="kernels/watched", grid=watched_grid)
