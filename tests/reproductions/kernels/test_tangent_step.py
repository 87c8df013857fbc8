"""Inner steps with tangents beside torch's own forward derivatives of (FG)2U's optimizers."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import jvp

from harness.errors import SpecError
from reproductions.fg2u.method.optimizers import Adam as AdamOfMethod
from reproductions.fg2u.method.optimizers import Inner
from reproductions.fg2u.method.optimizers import Sgd as SgdOfMethod
from reproductions.kernels.precision import tolerance
from reproductions.kernels.tangent_step import plain
from reproductions.kernels.tangent_step.plain import Adam, Point, Sgd

KERNEL = "tangent_step"
RULES = (Sgd(0.1), Sgd(0.05, momentum=0.9), Adam(0.01), Adam(0.02, step=7))
CASES = [*((rule, 1025) for rule in RULES), *((RULES[3], size) for size in (0, 1, 31, 1024))]
NUM_DIRECTIONS = 3


def drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def point_of(rule: Sgd | Adam, *shape: int, seed: int, positive: bool) -> Point:
    second = None if isinstance(rule, Sgd) else drawn(*shape, seed=seed + 2)
    if second is not None and positive:
        second = second.abs()
    return Point(value=drawn(*shape, seed=seed), first=drawn(*shape, seed=seed + 1), second=second)


def given(rule: Sgd | Adam, size: int) -> dict[str, Any]:
    return {
        "point": point_of(rule, size, seed=1, positive=True),
        "grad_N": drawn(size, seed=5),
        "along": point_of(rule, NUM_DIRECTIONS, size, seed=11, positive=False),
        "grad_BN": drawn(NUM_DIRECTIONS, size, seed=15),
        "lr_B": drawn(NUM_DIRECTIONS, seed=17),
    }


def changed(given: Tensor | Point, dtype: torch.dtype) -> Tensor | Point:
    """Return a tensor, or all those of a point, in another type."""
    if isinstance(given, Tensor):
        return given.to(dtype)
    second = None if given.second is None else given.second.to(dtype)
    return Point(value=given.value.to(dtype), first=given.first.to(dtype), second=second)


def by_torch(rule: Sgd | Adam, tensors: Any, grad: Tensor, lr: Tensor) -> tuple[Tensor, ...]:
    """Step as (FG)2U does, of which torch takes the derivative."""
    value, *slots = tensors
    if isinstance(rule, Sgd):
        method: Any = SgdOfMethod(lr=lambda phi, number: phi, momentum=rule.momentum)
        after = method.update(grad, Inner(value, slots[0] if rule.momentum else ()), lr, 0)
        return after.params, after.slots if rule.momentum else grad
    method = AdamOfMethod(
        lr=lambda phi, number: phi, beta1=rule.beta1, beta2=rule.beta2, eps_root=rule.eps_root
    )
    after = method.update(grad, Inner(value, tuple(slots)), lr, rule.step)
    return after.params, *after.slots


@pytest.mark.parametrize(("rule", "size"), CASES, ids=str)
def test_tangents_are_those_of_torch(ops: ModuleType, rule: Sgd | Adam, size: int) -> None:
    asked = given(rule, size)
    after, along = ops.step(rule, **asked)
    point, lr = asked["point"], torch.tensor(rule.lr, dtype=torch.float64)
    primals = ([each.double() for each in point.tensors], asked["grad_N"].double(), lr)
    for i in range(NUM_DIRECTIONS):
        tangents = (
            [each[i].double() for each in asked["along"].tensors],
            asked["grad_BN"][i].double(), asked["lr_B"][i].double(),
        )  # fmt: skip
        wanted, d_wanted = jvp(lambda *inner: by_torch(rule, *inner), primals, tangents)
        # A move by Adam divides by the root of a small second moment.
        allowed = tolerance(torch.float32, size=10.0)
        for found, right in zip(after.tensors, wanted, strict=True):
            torch.testing.assert_close(found.double(), right, **allowed)
        for found, right in zip(along.tensors, d_wanted, strict=True):
            scale = float(right.abs().max()) if size else 1.0
            allowed = tolerance(torch.float32, size=10.0 + scale)
            torch.testing.assert_close(found[i].double(), right, **allowed)


def test_tangents_in_another_order_of_memory_are_taken(ops: ModuleType) -> None:
    asked = given(RULES[2], 100)
    value, first, second = (each.T.contiguous().T for each in asked["along"].tensors)
    along = Point(value=value, first=first, second=second)
    _, wanted = ops.step(RULES[2], **asked)
    _, found = ops.step(RULES[2], **{**asked, "along": along})
    torch.testing.assert_close(found.tensors, wanted.tensors)


@pytest.mark.parametrize(
    ("rule", "dtype"), [(RULES[1], torch.bfloat16), (RULES[3], torch.float16)], ids=str
)
def test_halves_are_stepped_in_float32(
    ops: ModuleType, rule: Sgd | Adam, dtype: torch.dtype
) -> None:
    asked = given(rule, 100)
    halves = {name: changed(each, dtype) for name, each in asked.items()}
    wide = {name: changed(each, torch.float64) for name, each in halves.items()}
    for found, wanted in zip(ops.step(rule, **halves), plain.step(rule, **wide), strict=True):
        for one, other in zip(found.tensors, wanted.tensors, strict=True):
            assert one.dtype == dtype
            torch.testing.assert_close(one.double(), other, **tolerance(dtype))


def test_shapes_and_slots_that_do_not_fit_are_told(ops: ModuleType) -> None:
    asked = given(RULES[0], 8)
    with pytest.raises(SpecError, match=r"shapes \[\(3, 7\)\]"):
        ops.step(RULES[0], **(asked | {"grad_BN": asked["grad_BN"][:, 1:]}))
    with pytest.raises(SpecError, match="Adam keeps 2 slots"):
        ops.step(RULES[2], **asked)
