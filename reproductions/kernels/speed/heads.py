"""Cross-entropy of linear heads: who takes turns."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import torch
from torch import Tensor
from torch.nn import functional as F

from harness.errors import EnvError
from reproductions.kernels.cases import Case
from reproductions.kernels.speed.contest import (
    Bind,
    Bound,
    Contender,
    Contest,
    Setting,
    contest_of_call,
)

Inputs = tuple[Tensor, ...]


def _both_ways(function: Callable[[Tensor, Tensor], Tensor], given: Inputs) -> Inputs:
    """Return a function of the first two inputs, and its derivatives by both."""
    leaves = tuple(each.detach().requires_grad_() for each in given[:2])
    found = function(*leaves)
    return (found.detach(), *torch.autograd.grad(found, leaves))


def cross_entropy(case: Case, setting: Setting) -> Contest:
    """Return the mean cross-entropy of a linear head and its gradients."""
    rows, inputs, classes = (case.sizes[name] for name in ("rows", "inputs", "classes"))

    def draw(generator: torch.Generator) -> Inputs:
        x = setting.normal(rows, inputs, generator=generator)
        # As heads are initialised: logits of the size of one.
        weight = setting.normal(classes, inputs, generator=generator) / inputs**0.5
        targets = torch.randint(classes, (rows,), generator=generator)
        return x, weight, targets.to(setting.device)

    def call(module: ModuleType, given: Inputs) -> Inputs:
        return _both_ways(lambda x, w: module.linear_cross_entropy(x, w, given[2]), given)

    peers: dict[str, Bind] = {
        "all logits": _whole,
        "torch's linear_cross_entropy": _by_torch,
    }
    if setting.device.type == "cuda":
        # Triton's, as ours: a GPU that lacks it says so.
        peers["Liger"] = _by_liger
    return contest_of_call(
        "linear_cross_entropy", draw, call, length=max(rows, inputs, classes),
        peers={name: Contender(bind) for name, bind in peers.items()},
    )  # fmt: skip


def _whole(given: Inputs) -> Bound:
    return lambda: _both_ways(lambda x, w: F.cross_entropy(F.linear(x, w), given[2]), given)


def _by_torch(given: Inputs) -> Bound:
    if not hasattr(F, "linear_cross_entropy"):
        raise EnvError(f"torch {torch.__version__} has no linear_cross_entropy: 2.13 has it")
    return lambda: _both_ways(lambda x, w: F.linear_cross_entropy(x, w, given[2]), given)


def _by_liger(given: Inputs) -> Bound:
    from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss

    loss = LigerFusedLinearCrossEntropyLoss()
    return lambda: _both_ways(lambda x, w: loss(w, x, given[2]), given)
