"""Steps of AdamW, of inner optimizers with tangents, and of shards: who takes turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.func import jvp, vmap

from reproductions.kernels.adamw import plain
from reproductions.kernels.adamw.plain import AdamW, Weight
from reproductions.kernels.cases import Case
from reproductions.kernels.speed.contest import (
    Bound,
    Contender,
    Contest,
    Setting,
    contest_of_call,
)
from reproductions.kernels.tangent_step.plain import Adam, Point

SETTINGS = AdamW(betas=(0.9, 0.95), weight_decay=0.1)
LR = 1e-3
KEPT = 0.25
RULE = Adam(0.01, step=7)
Inputs = tuple[Tensor, ...]


def adamw(case: Case, setting: Setting, *, masked: bool) -> Contest:
    """Return steps of as many tensors as the case has."""
    shape = (case.sizes["num_tensors"], case.sizes["entries"])
    rest = "masks" if masked else "norms"
    peers = {
        f"torch fused, then {rest}": Contender(_fused),
        f"torchao, then {rest}": Contender(_by_torchao, compiles=True),
    }
    if setting.dtype != torch.float32:
        # Both have moments in the type of the weights: another algorithm.
        peers = {}
    return _steps(shape, setting, peers, masked=masked)


def sharded(case: Case, setting: Setting) -> Contest:
    """Return the step of a shard: gradients as they came, and a copy in bfloat16 to be sent."""
    shape = (case.sizes["blocks"], case.sizes["entries"])
    values = setting._replace(dtype=torch.float32)
    fused = {"torch fused, then a copy": Contender(_fused)}
    peers = fused if setting.dtype == torch.float32 else {}
    return _steps(shape, values, peers, masked=False, sent=setting.dtype)


def _steps(
    shape: tuple[int, int],
    setting: Setting,
    peers: dict[str, Contender],
    *,
    masked: bool,
    sent: torch.dtype | None = None,
) -> Contest:
    def draw(generator: torch.Generator) -> list[Weight]:
        values, grads = (setting.normal(*shape, generator=generator) for _ in range(2))
        states = torch.zeros(2, *shape, device=setting.device)
        masks = setting.uniform(*shape, generator=generator) < KEPT
        return [
            Weight(
                value=values[i], grad=grads[i].to(sent or setting.dtype), lr=LR,
                mean=states[0, i], square=states[1, i], mask=masks[i] if masked else None,
                copy=torch.empty_like(values[i], dtype=torch.bfloat16) if sent else None,
            )
            for i in range(shape[0])
        ]  # fmt: skip

    def call(module: ModuleType, weights: list[Weight]) -> list[Tensor]:
        norms = module.step_(weights, SETTINGS, 1)
        # A compiler leaves out what nobody is given.
        return [*(weight.value for weight in weights), norms]

    def reference(weights: list[Weight]) -> Bound:
        # Norms are long sums, which another length allows for: `on_device` compares them.
        return lambda: call(plain, weights)[:-1]

    contest = contest_of_call(
        "adamw", draw, call, length=1, backends=("cuda",), peers=peers, change=_each_weight
    )
    return contest._replace(reference=reference)


TENSORS = ("value", "grad", "mean", "square", "mask", "copy")


def _each_weight(weights: list[Weight], change: Callable[[Tensor], Tensor]) -> list[Weight]:
    def changed(weight: Weight) -> Weight:
        there = {name: getattr(weight, name) for name in TENSORS}
        new: dict[str, Any] = {n: change(t) for n, t in there.items() if t is not None}
        return replace(weight, **new)

    return [changed(weight) for weight in weights]


def _fused(weights: list[Weight]) -> Bound:
    """Step by torch's fused kernel.

    As torch.optim.AdamW(fused=True) calls it, without what it does in Python round it.
    """
    counts = [torch.zeros((), device=w.value.device) for w in weights]
    step = partial(
        torch._fused_adamw_, [w.value for w in weights], [w.grad for w in weights],
        [w.mean for w in weights], [w.square for w in weights], [], counts, lr=LR,
        beta1=SETTINGS.betas[0], beta2=SETTINGS.betas[1], weight_decay=SETTINGS.weight_decay,
        eps=SETTINGS.eps, amsgrad=False, maximize=False,
    )  # fmt: skip
    return _with_the_rest(weights, counts, step)


def _by_torchao(weights: list[Weight]) -> Bound:
    """Step by torchao's AdamW: a step of one tensor, as torch.compile makes it.

    As its own class calls it, tensor by tensor, without what it does in Python round that.
    """
    from torchao.optim.adam import single_param_adam

    compiled = torch.compile(single_param_adam, fullgraph=True, dynamic=False)
    # On the CPU, wherever weights are.
    lr, counts = torch.tensor(LR), [torch.zeros(()) for _ in weights]

    def step() -> None:
        for w, count in zip(weights, counts, strict=True):
            compiled(
                w.value, w.grad, count, w.mean, w.square, None, lr, *SETTINGS.betas,
                SETTINGS.weight_decay, SETTINGS.eps, True, False,
            )  # fmt: skip

    return _with_the_rest(weights, counts, step)


def _with_the_rest(
    weights: list[Weight], counts: list[Tensor], step: Callable[[], object]
) -> Bound:
    """Return a library's step, and beside it what that leaves out: masks, copies or norms.

    counts: of steps, this one among them: as those of the others, every call takes the first.
    """
    firsts = [torch.ones_like(count) for count in counts]
    values, grads = [w.value for w in weights], [w.grad for w in weights]
    masks = [w.mask for w in weights if w.mask is not None]
    copies = [w.copy for w in weights if w.copy is not None]

    def call() -> list[Tensor]:
        if masks:
            torch._foreach_mul_(grads, masks)
        torch._foreach_copy_(counts, firsts)
        step()
        if masks:
            torch._foreach_mul_(values, masks)
        elif copies:
            torch._foreach_copy_(copies, values)
        else:
            torch._foreach_norm(grads)
            torch._foreach_norm(values)
        return values

    return call


def tangent_step(case: Case, setting: Setting) -> Contest:
    """Return a step of Adam with its tangents."""
    size, count = case.sizes["entries"], case.sizes["directions"]

    def draw(generator: torch.Generator) -> Inputs:
        one = [setting.normal(size, generator=generator) for _ in range(4)]
        many = [setting.normal(count, size, generator=generator) for _ in range(4)]
        return (*one, *many, setting.normal(count, generator=generator))

    def call(module: ModuleType, inputs: Inputs) -> Inputs:
        value, first, second, grad, d_value, d_first, d_second, d_grad, d_lr = inputs
        point = Point(value=value, first=first, second=second.abs())
        along = Point(value=d_value, first=d_first, second=d_second)
        after, d_after = module.step(RULE, point, grad, along, d_grad, d_lr)
        return (*after.tensors, *d_after.tensors)

    peers = {"torch.func's jvp": Contender(_by_jvp)}
    return contest_of_call("tangent_step", draw, call, length=1, peers=peers)


def _by_jvp(inputs: Inputs) -> Bound:
    """Take the step alone, and torch's forward derivative of it."""
    value, first, second, grad, *tangents = inputs
    lr = torch.tensor(RULE.lr, dtype=value.dtype, device=value.device)

    def step(value: Tensor, first: Tensor, second: Tensor, grad: Tensor, lr: Tensor) -> Inputs:
        first = RULE.beta1 * first + (1 - RULE.beta1) * grad
        second = RULE.beta2 * second + (1 - RULE.beta2) * grad * grad
        move = first / RULE.rise * (second / RULE.spread + RULE.eps_root).rsqrt()
        return value - lr * move, first, second

    def call() -> Inputs:
        primals = (value, first, second.abs(), grad, lr)
        return (*step(*primals), *vmap(lambda *along: jvp(step, primals, along)[1])(*tangents))

    return call
