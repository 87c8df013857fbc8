"""Every kernel at odd sizes on a device: outputs, the same bits again, and what a checker finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc
from harness.declare.experiment import Device
from reproductions.kernels.cases import FLOAT32, KERNELS, Precision
from reproductions.kernels.compiled.experiment import COMPILERS

Written = Literal["plain", "triton", "cuda"]
IN_CUDA = ("masked_adamw", "rademacher", "layer_adamw", "shard_pack")
"""Kernels that have a second implementation."""


class Check(Params):
    """A kernel as a backend has it, in one type."""

    kernel: str = doc("Kernel, by its task.")
    backend: Written = doc("plain: torch on a CPU; triton, cuda: ours, on a GPU.")
    precision: Precision = doc("Type of values, activations and gradients.")
    device: Device = doc("cpu: one thread; cuda: one GPU.")


def check_grid(profile: Profile) -> Iterator[Check]:
    """Yield every kernel of ours on a GPU; at `smoke` plain torch, which shows the path."""
    if profile not in ("smoke", "gpu"):
        return
    for kernel in KERNELS:
        in_cuda: tuple[Written, ...] = ("cuda",) if kernel in IN_CUDA else ()
        precisions: tuple[Precision, ...] = ("float32", "bfloat16")
        for backend in ("triton", *in_cuda) if profile == "gpu" else ("plain",):
            for precision in precisions[:1] if kernel in FLOAT32 else precisions:
                yield Check(
                    kernel=kernel, backend=backend, precision=precision,
                    device="cuda" if profile == "gpu" else "cpu",
                )  # fmt: skip


def needs(check: Check) -> Needs:
    """Return what a GPU's kernels are compiled by."""
    if check.device == "cpu":
        return Needs()
    return Needs(device="cuda", gpu_bytes=2**30, packages=("triton",), brought=COMPILERS)


checks = Experiment(
    "kernels/on_device",
    version=1,
    params=Check,
    grid=check_grid,
    run="trial:check_rows",
    seed_from=("kernel",),
    needs=needs,
    estimate=lambda check: Estimate(seconds=0.1 if check.device == "cpu" else 4.0),
)
