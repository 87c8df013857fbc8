"""What is compiled ahead of time is what is launched: constants, options, types and strides."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from reproductions.kernels.adamw.plain import AdamW, Weight
from reproductions.kernels.backend import implementation
from reproductions.kernels.compiled.builds import POINTERS, TRITON, TritonBuild
from reproductions.kernels.compiled.in_triton import constants_of, options_of, place_of, types_of
from reproductions.kernels.tangent_step.plain import Adam, Point, Sgd

pytestmark = pytest.mark.kernels
TYPES = {
    torch.float32: "fp32", torch.bfloat16: "bf16", torch.int8: "i8", torch.int32: "i32",
    torch.int64: "i64",
}  # fmt: skip
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
SIZE = 2048
"""A chunk and a block of every kernel, or whole ones of them."""
SEED = 7


class Launched(NamedTuple):
    """A launch, by names."""

    arguments: Mapping[str, Any]
    options: Mapping[str, Any]


def launches_of(build: TritonBuild, monkeypatch: pytest.MonkeyPatch) -> list[Launched]:
    """Return a list to which every launch of a build's function is added from now on."""
    found: list[Launched] = []
    module, name = place_of(build)
    function = getattr(module, name)

    class Noted:
        def __getitem__(self, grid: Any) -> Callable[..., Any]:
            def launch(*given: Any, **named: Any) -> Any:
                taken = inspect.signature(function.fn).parameters
                own = {key: value for key, value in named.items() if key in taken}
                arguments = inspect.signature(function.fn).bind(*given, **own).arguments
                others = {key: value for key, value in named.items() if key not in taken}
                found.append(Launched(arguments, others))
                return function[grid](*given, **named)

            return launch

    monkeypatch.setattr(module, name, Noted())
    return found


def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.zeros(shape, dtype=dtype)


def step_of_adamw(build: TritonBuild) -> None:
    types = {"fp32": torch.float32, "bf16": torch.bfloat16}
    value, grad, copy = (types[str(build.constants[name])] for name in ("VALUE", "GRAD", "COPY"))
    weight = Weight(
        value=zeros(SIZE, dtype=value), grad=zeros(SIZE, dtype=grad), mean=zeros(SIZE),
        square=zeros(SIZE), lr=0.1,
        mask=zeros(SIZE, dtype=torch.bool) if build.constants["MASKED"] else None,
        copy=zeros(SIZE, dtype=copy) if build.constants["COPIED"] else None,
    )  # fmt: skip
    implementation("adamw", "triton").step_([weight], AdamW(), 1)


def product(dtype: torch.dtype) -> None:
    """A batch, and both derivatives: the gradient comes as it lies behind a layer."""
    ops = implementation("masked_linear", "triton")
    x, weight = zeros(32, 128, dtype=dtype), zeros(192, 128, dtype=dtype)
    y = ops.masked_linear(x.requires_grad_(), weight.requires_grad_(), weight.bool())
    y.backward(zeros(32, 192, dtype=dtype))


def cross_entropy(dtype: torch.dtype) -> None:
    ops = implementation("linear_cross_entropy", "triton")
    ops.linear_cross_entropy(
        zeros(16, 16, dtype=dtype), zeros(64, 16, dtype=dtype), zeros(16, dtype=torch.int64)
    )


def tangents(rule: Sgd | Adam) -> None:
    slots = {"first": 0} if isinstance(rule, Sgd) else {"first": 0, "second": 0}
    one = Point(value=zeros(SIZE), **{name: zeros(SIZE) for name in slots})
    many = Point(value=zeros(3, SIZE), **{name: zeros(3, SIZE) for name in slots})
    ops = implementation("tangent_step", "triton")
    ops.step(rule, one, zeros(SIZE), many, zeros(3, SIZE), zeros(3))


def call(build: TritonBuild) -> None:
    """Call the function that a method would, for what a build is compiled for."""
    rademacher, packs, signs = (
        implementation(kernel, "triton") for kernel in ("rademacher", "shard_pack", "sign_ops")
    )
    dtype = DTYPES.get(build.variant.rpartition(" ")[2], torch.float32)
    other = torch.bfloat16 if dtype == torch.float32 else torch.float32
    numbers = range(3)
    match build.function, build.variant:
        case "adamw.in_triton:step_chunk", _:
            step_of_adamw(build)
        case "linear_cross_entropy.in_triton:row_slope", _:
            cross_entropy(dtype)
        case "masked_linear.in_triton:product", _:
            product(dtype)
        case "shard_pack.in_triton:move_block", _:
            packs.rearrange(zeros(4 * SIZE, dtype=other), 2, 2, dtype)
        case "tangent_step.in_triton:step_sgd", _:
            tangents(Sgd(0.1, momentum=0.9))
        case "tangent_step.in_triton:step_adam", _:
            tangents(Adam(0.1, step=1))
        case _, "sum of directions":
            rademacher.combine(zeros(3), SEED, numbers, 2 * SIZE)
        case _, "along directions":
            rademacher.project(zeros(2 * SIZE), SEED, numbers)
        case _, "both":
            rademacher.combine_and_project(zeros(3), zeros(2 * SIZE), SEED, numbers)
        case _, "perturb":
            signs.perturb(zeros(SIZE), zeros(SIZE), 0.1)
        case _, "count":
            signs.count_same_signs(zeros(SIZE), zeros(SIZE))
        case _, "fedsign":
            signs.add_fedsign_(zeros(SIZE), zeros(SIZE), zeros(SIZE), gamma=0.1)
        case _:
            pytest.fail(f"nothing here calls {build.kernel}, {build.variant}")


def plainly(value: Any) -> Any:
    """Return Triton's types by the words that builds have for them."""
    return str(value) if type(value).__module__.startswith("triton") else value


def compiled_for(build: TritonBuild, launched: Launched) -> bool:
    """Say whether a launch has a build's constants, which strides of 1 are too."""
    constants = constants_of(build)
    found = {name: plainly(launched.arguments[name]) for name in constants}
    others = {
        name: value for name, value in launched.arguments.items()
        if name not in constants and type(value) is int
    }  # fmt: skip
    return found == constants and 1 not in others.values()


@pytest.mark.parametrize("build", TRITON, ids=lambda build: f"{build.kernel}, {build.variant}")
def test_each_build_is_a_launch_and_each_launch_a_build(
    build: TritonBuild, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So whatever a method launches, also on the way, has its row."""
    launches = launches_of(build, monkeypatch)
    call(build)
    (same,) = [launched for launched in launches if compiled_for(build, launched)] or [None]
    assert same is not None, [launched.arguments for launched in launches]
    builds = [each for each in TRITON if each.function == build.function]
    for launched in launches:
        assert any(compiled_for(each, launched) for each in builds), launched.arguments
        assert launched.options == options_of(build)
    for name, type in types_of(build).items():
        value = same.arguments[name]
        if isinstance(value, Tensor):
            assert f"*{TYPES[value.dtype]}" == type, name
            assert value.data_ptr() % POINTERS == 0, name
        elif value is not None:
            assert (type.startswith("fp")) == isinstance(value, float), name
    assert all(same.arguments[name] % POINTERS == 0 for name in build.divisible)
