"""Random signs, operations on signs, and blocks put in order: who takes turns."""

from __future__ import annotations

from functools import partial
from types import ModuleType

import torch
from torch import Tensor

from reproductions.kernels.cases import Case
from reproductions.kernels.speed.contest import (
    Bound,
    Contender,
    Contest,
    Setting,
    contest_of_call,
)

SEED = 7
GAMMA = 0.5
COLUMNS = 4
Inputs = tuple[Tensor, ...]


def rademacher(case: Case, setting: Setting) -> Contest:
    """Return a weighted sum of directions, what a vector is along each, or both at once."""
    size, count = case.sizes["entries"], case.sizes["directions"]
    numbers = list(range(count))

    def draw(generator: torch.Generator) -> Inputs:
        sizes = {"sum": (count,), "along": (size,), "both": (count, size)}[case.call]
        return tuple(setting.normal(each, generator=generator) for each in sizes)

    def call(module: ModuleType, given: Inputs) -> Inputs:
        match case.call:
            case "sum":
                return (module.combine(given[0], SEED, numbers, size),)
            case "along":
                return (module.project(given[0], SEED, numbers),)
            case _:
                return tuple(module.combine_and_project(*given, SEED, numbers))

    def generated(given: Inputs) -> Bound:
        """Draw all directions, and multiply."""

        def multiply() -> Inputs:
            bits = torch.randint(0, 2, (count, size), device=setting.device, dtype=torch.int8)
            signs = bits.to(given[0].dtype).mul_(-2).add_(1)
            summed = () if case.call == "along" else (given[0] @ signs,)
            return summed if case.call == "sum" else (*summed, signs @ given[-1])

        return multiply

    return contest_of_call(
        "rademacher", draw, call, length=max(size, count), backends=("cuda",),
        peers={"drawn, then multiplied": Contender(generated, compared=False)},
    )  # fmt: skip


def sign_ops(case: Case, setting: Setting) -> Contest:
    """Return FedSign's penalty with its gradient."""
    size = case.sizes["entries"]

    def draw(generator: torch.Generator) -> Inputs:
        return tuple(setting.normal(size, generator=generator) for _ in range(3))

    def call(module: ModuleType, given: Inputs) -> Inputs:
        theta, received, grad = given
        return (grad, module.add_fedsign_(grad, theta, received, gamma=GAMMA))

    return contest_of_call("sign_ops", draw, call, length=size)


def rearrange(case: Case, setting: Setting) -> Contest:
    """Return blocks put in order, as float32."""
    rows, length = case.sizes["blocks"] // COLUMNS, case.sizes["entries"]

    def draw(generator: torch.Generator) -> Inputs:
        return (setting.normal(rows * COLUMNS * length, generator=generator),)

    def call(module: ModuleType, given: Inputs) -> Inputs:
        return (module.rearrange(given[0], rows, COLUMNS, torch.float32),)

    return contest_of_call(
        "shard_pack", draw, call, length=1, peers=_arranging(rows, length, setting.device)
    )


def _arranging(rows: int, length: int, device: torch.device) -> dict[str, Contender]:
    """Return what torch and FSDP2 have for it: from blocks of a length, in rows of COLUMNS."""

    def copied(given: Inputs) -> Bound:
        """Copy once, strides and types left to torch."""

        def copy() -> Inputs:
            target = torch.empty(COLUMNS, rows, length, device=device)
            return (target.copy_(given[0].view(rows, COLUMNS, length).transpose(0, 1)).view(-1),)

        return copy

    def chunked(given: Inputs) -> Bound:
        """Do as FSDP2 does before it reduces and scatters: by one kernel, types changed in it."""

        def chunk() -> Inputs:
            target = torch.empty(COLUMNS, rows * length, device=device)
            pieces = list(given[0].view(rows, -1))
            return (torch._chunk_cat(pieces, 0, COLUMNS, out=target).view(-1),)

        return chunk

    return {
        "one strided copy": Contender(copied),
        "FSDP2's chunk_cat": Contender(chunked),
        "FSDP2's all_gather_copy_in": Contender(partial(_copied_in, rows, length)),
    }


def _copied_in(rows: int, length: int, given: Inputs) -> Bound:
    """Do as FSDP2 does before it gathers: blocks as a list, copied by one kernel."""
    # Registers the operator.
    import torch.distributed.fsdp

    # FSDP2 has them as a list, so that to make it is no part of the call.
    by_row = given[0].view(rows, COLUMNS, length)
    blocks = [by_row[row, column] for column in range(COLUMNS) for row in range(rows)]
    sizes = [length] * len(blocks)

    def copy_in() -> Inputs:
        target = torch.empty(COLUMNS * rows * length, device=given[0].device)
        torch.ops.fsdp.all_gather_copy_in(blocks, target, sizes, len(target), 0)
        return (target,)

    return copy_in
