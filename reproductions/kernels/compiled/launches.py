"""How methods launch what is compiled: with tensors of no memory, so that nothing is run.

Sizes are multiples of 16, as addresses are where torch allocates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any
from unittest.mock import patch

import torch

from reproductions.kernels.adamw.plain import AdamW, Weight
from reproductions.kernels.backend import implementation
from reproductions.kernels.compiled.builds import ADAMW, TritonBuild
from reproductions.kernels.tangent_step.plain import Adam, Point, Sgd

SIZE = 2**20
MANY = 2**32
"""Entries that 32 bits do not count."""
SEED = 2**64 - 1
NUM_DIRECTIONS = 3
zeros = partial(torch.zeros, device="meta")


def launch_of(build: TritonBuild) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return a build's function, its arguments and its options as its method launches it."""
    path, _, name = build.function.partition(":")
    module = import_module(f"reproductions.kernels.{path}")
    function = getattr(module, name)
    launches: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    class Noted:
        def __getitem__(self, grid: object) -> Callable[..., None]:
            return lambda *given, **named: launches.append((given, named))

    call = adamw if build.function == ADAMW else CALLS[build.kernel]
    with patch.object(module, name, Noted()):
        call(build, *(getattr(torch, type) for type in build.types))
    given, named = launches[0]
    arguments = dict(zip(function.arg_names, given, strict=False))
    arguments |= {key: value for key, value in named.items() if key in function.arg_names}
    options = {key: value for key, value in named.items() if key not in function.arg_names}
    return function, arguments, options


def adamw(build: TritonBuild, value: torch.dtype, grad: torch.dtype) -> None:
    """Step; a shard's new value goes to where it is sent from, in its gradient's type."""
    weight = Weight(
        value=zeros(SIZE, dtype=value), grad=zeros(SIZE, dtype=grad), lr=0.1,
        mean=zeros(SIZE), square=zeros(SIZE),
        mask=zeros(SIZE, dtype=torch.bool) if build.kernel == "masked_adamw" else None,
        copy=zeros(SIZE, dtype=grad) if build.kernel == "shard_pack" else None,
    )  # fmt: skip
    implementation("adamw", "triton").step_([weight], AdamW(), 1)


def packed(build: TritonBuild, of: torch.dtype, to: torch.dtype) -> None:
    """Put blocks in order."""
    implementation("shard_pack", "triton").rearrange(zeros(SIZE, dtype=of), 2, 2, to)


def directions(build: TritonBuild, dtype: torch.dtype) -> None:
    """Make directions on the way."""
    ops, numbers = implementation("rademacher", "triton"), range(NUM_DIRECTIONS)
    weights, x = zeros(NUM_DIRECTIONS, dtype=dtype), zeros(MANY, dtype=dtype)
    match build.variant:
        case "sum of directions":
            ops.combine(weights, SEED, numbers, MANY)
        case "along directions":
            ops.project(x, SEED, numbers)
        case _:
            ops.combine_and_project(weights, x, SEED, numbers)


def tangents(build: TritonBuild, dtype: torch.dtype) -> None:
    """Take an inner step with its tangents."""
    rule = Sgd(0.1, momentum=0.9) if build.variant == "SGD" else Adam(0.1)

    def point(*shape: int) -> Point:
        second = None if isinstance(rule, Sgd) else zeros(*shape, dtype=dtype)
        return Point(value=zeros(*shape, dtype=dtype), first=zeros(*shape), second=second)

    many = (NUM_DIRECTIONS, SIZE)
    implementation("tangent_step", "triton").step(
        rule, point(SIZE), zeros(SIZE), point(*many), zeros(*many), zeros(NUM_DIRECTIONS)
    )


def signs(build: TritonBuild, dtype: torch.dtype) -> None:
    """Add a penalty's gradient."""
    given = zeros(SIZE, dtype=dtype)
    implementation("sign_ops", "triton").add_fedsign_(given, given, given, gamma=0.1)


def cross_entropy(build: TritonBuild, dtype: torch.dtype) -> None:
    """Turn logits of rows into their slope."""
    x, weight = zeros(16, 16, dtype=dtype), zeros(64, 16, dtype=dtype)
    ops = implementation("linear_cross_entropy", "triton")
    ops.linear_cross_entropy(x, weight, zeros(16, dtype=torch.int64))


CALLS: dict[str, Callable[..., None]] = {
    "shard_pack": packed,
    "rademacher": directions,
    "tangent_step": tangents,
    "sign_ops": signs,
    "linear_cross_entropy": cross_entropy,
}
"""By kernel, of those that are not AdamW."""
