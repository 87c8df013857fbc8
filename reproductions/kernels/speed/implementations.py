"""Every way to make a call that is timed: eager, compiled, a library's, Triton's, CUDA's.

Each gives a function of inputs that returns what is compared afterwards. What works in place is
given copies when it is compared, and goes on from where it is when it is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from harness.declare.experiment import Device
from reproductions.kernels.adamw.plain import AdamW, Weight
from reproductions.kernels.backend import implementation
from reproductions.kernels.cases import Case, Precision
from reproductions.kernels.tangent_step.plain import Adam, Point

Inputs = Any
Function = Callable[[Inputs], Sequence[Tensor]]
DTYPES: dict[Precision, torch.dtype] = {"float32": torch.float32, "bfloat16": torch.bfloat16}
SETTINGS = AdamW(betas=(0.9, 0.95), weight_decay=0.1)
RULE = Adam(0.01, step=7)
SEED = 7


class Contest(NamedTuple):
    """What takes turns."""

    draw: Callable[[torch.Generator], Inputs]
    """Inputs of a call."""
    copied: Callable[[Inputs], Inputs]
    """The same inputs once more, for what changes them."""
    wide: Callable[[Inputs], Inputs]
    """The same in float64."""
    by: Mapping[str, Callable[[], Function]]
    """Per implementation what makes its function, in the process that calls it."""
    reference: Function
    """In plain torch, for inputs in float64."""


def contest(case: Case, precision: Precision, device: Device) -> Contest:
    """Return the implementations of a kernel that run on a device."""
    made = MAKERS[case.kernel](case, DTYPES[precision], torch.device(device))
    if device == "cpu":
        return made._replace(by={name: fn for name, fn in made.by.items() if name != "Triton"})
    return made


def _both(kernel: str, call: Callable[[ModuleType, Inputs], Sequence[Tensor]]) -> dict[str, Any]:
    """Return eager, compiled and Triton's implementations of a kernel of ours."""

    def plain() -> Function:
        module = implementation(kernel, "plain")
        return lambda inputs: call(module, inputs)

    def compiled() -> Function:
        return torch.compile(plain(), dynamic=False)

    def triton() -> Function:
        module = implementation(kernel, "triton")
        return lambda inputs: call(module, inputs)

    return {"eager": plain, "compiled": compiled, "Triton": triton}


def _tensors(inputs: Inputs, change: Callable[[Tensor], Tensor]) -> Inputs:
    return tuple(change(each) if isinstance(each, Tensor) else each for each in inputs)


def _widened(tensor: Tensor) -> Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor


def _flat(
    kernel: str,
    draw: Callable[[torch.Generator], Inputs],
    call: Callable[[ModuleType, Inputs], Sequence[Tensor]],
    **libraries: Callable[[], Function],
) -> Contest:
    """Return a contest whose inputs are tensors, one after another."""
    return Contest(
        draw=draw,
        copied=lambda inputs: _tensors(inputs, Tensor.clone),
        wide=lambda inputs: _tensors(inputs, _widened),
        by={**_both(kernel, call), **libraries},
        reference=lambda inputs: call(implementation(kernel, "plain"), inputs),
    )


def _adamw(case: Case, dtype: torch.dtype, device: torch.device, *, masked: bool) -> Contest:
    shape = (case.sizes["num_tensors"], case.sizes["entries"])

    def draw(generator: torch.Generator) -> list[Weight]:
        def normal() -> Sequence[Tensor]:
            return torch.randn(shape, generator=generator).to(device, dtype).unbind()

        states = torch.zeros(2, *shape, device=device)
        masks = (torch.rand(shape, generator=generator) < 0.25).to(device).unbind()
        return [
            Weight(value=value.contiguous(), grad=grad, mean=mean, square=square, lr=1e-3,
                   mask=mask if masked else None)
            for value, grad, mean, square, mask in zip(
                normal(), normal(), *states, masks, strict=True
            )
        ]  # fmt: skip

    def copied(weights: list[Weight]) -> list[Weight]:
        return [
            replace(w, value=w.value.clone(), mean=w.mean.clone(), square=w.square.clone())
            for w in weights
        ]

    def wide(weights: list[Weight]) -> list[Weight]:
        return [
            replace(w, value=w.value.double(), grad=w.grad.double(), mean=w.mean.double(),
                    square=w.square.double())
            for w in weights
        ]  # fmt: skip

    def call(module: ModuleType, weights: list[Weight]) -> list[Tensor]:
        module.step_(weights, SETTINGS, 1)
        return [weight.value for weight in weights]

    return Contest(
        draw=draw, copied=copied, wide=wide,
        by={**_both("adamw", call), "torch's fused AdamW": lambda: _fused},
        reference=lambda weights: call(implementation("adamw", "plain"), weights),
    )  # fmt: skip


def _fused(weights: list[Weight]) -> list[Tensor]:
    """Step by torch's fused kernel; weights and gradients are masked beside it."""
    values, grads = [w.value for w in weights], [w.grad for w in weights]
    masks = [w.mask for w in weights if w.mask is not None]
    if masks:
        torch._foreach_mul_(grads, masks)
    # As torch.optim.AdamW(fused=True) calls it, without what it does in Python around it.
    torch._fused_adamw_(
        values, grads, [w.mean.to(w.value.dtype) for w in weights],
        [w.square.to(w.value.dtype) for w in weights], [],
        [torch.ones((), device=values[0].device)] * len(values),
        lr=1e-3, beta1=SETTINGS.betas[0], beta2=SETTINGS.betas[1],
        weight_decay=SETTINGS.weight_decay, eps=SETTINGS.eps, amsgrad=False, maximize=False,
    )  # fmt: skip
    if masks:
        torch._foreach_mul_(values, masks)
    return values
