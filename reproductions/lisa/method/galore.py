"""GaLore: AdamW whose moments live in a low-rank projection of the gradient.

Source: Zhao et al., arXiv 2403.03507, Algorithm 2 (Adam with GaLore), read beside the authors'
package galore-torch 1.0. As there, a new projector leaves the moments where they were, in the
coordinates of the old one, and weights decay (lr times weight_decay) after the update.

Differences: from the paper, weight decay, which it leaves out. From galore-torch, epsilon, which is
added after the second moment's bias is taken out, as in Algorithm 2 and torch; and memory: a
projector is a copy, where theirs is a view that keeps a whole factor of the decomposition alive.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.adamw import adamw

from harness.errors import RunError, SpecError

RANK, UPDATE_GAP, SCALE = 128, 200, 0.25
"""What transformers takes where it is not told, and so what LISA's paper compared with."""

Options = dict[str, Any]
MakeBasis = Callable[[Tensor, int], Tensor]
"""From a gradient and a rank to a projector."""


def projector(gradient: Tensor, rank: int) -> Tensor:
    """Return the top singular vectors of a gradient along its shorter side.

    gradient: shape (m, n). Returns shape (rank, n), orthonormal rows to the right of it, where
    m >= n, else (m, rank), orthonormal columns to the left of it; in the gradient's dtype,
    decomposed in float32 at least, and in memory of its own. Raises RunError for a gradient that
    is not finite: the decomposition of some of them ends, with vectors that mean nothing.
    """
    precise = gradient if gradient.dtype == torch.float64 else gradient.float()
    # On the meta device there are no values.
    if not precise.is_meta and not precise.isfinite().all():
        raise RunError(
            f"GaLore cannot project a gradient of shape {tuple(gradient.shape)} that is not finite:"
            " skip such a step, as a GradScaler does, or take a lower learning rate"
        )
    left, _, right = torch.linalg.svd(precise, full_matrices=False)
    tall = gradient.shape[0] >= gradient.shape[1]
    # A slice would keep the whole factor alive.
    top: Tensor = right[:rank] if tall else left[:, :rank]
    return top.clone(memory_format=torch.contiguous_format).to(gradient.dtype)


class GaloreAdamW(Optimizer):
    """AdamW with GaLore in the groups that ask for it; the other groups are torch's AdamW.

        optimizer = GaloreAdamW([
            {"params": matrices, "rank": 128, "update_gap": 200, "scale": 0.25},
            {"params": others},
        ], lr=1e-4, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)

    Its state_dict holds the projectors: a run resumed from it equals an uninterrupted one.
    """

    def __init__(
        self,
        params: Any,
        *,
        lr: float,
        betas: tuple[float, float],
        eps: float,
        weight_decay: float,
        basis_of: MakeBasis = projector,
    ) -> None:
        """Take parameters or groups of them. Raises SpecError for a group that cannot be projected.

        A group with `rank` (of the projection; a matrix whose shorter side is less takes that),
        `update_gap` (steps from one decomposition to the next) and `scale` (of the update, the
        paper's alpha) holds matrices alone. basis_of: what makes a projector of the same shape,
        where bytes are measured and no decomposition is waited for.
        """
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)
        self._basis_of = basis_of

    def add_param_group(self, param_group: Options) -> None:
        """Add a group. Raises SpecError as the constructor does."""
        super().add_param_group(param_group)
        _check(self.param_groups[-1])

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; return what the closure does."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        projected = partial(_step_projected, basis_of=self._basis_of)
        with torch.no_grad():
            for group in self.param_groups:
                update = projected if "rank" in group else _step_plain
                for weight in group["params"]:
                    if weight.grad is not None:
                        update(weight, self.state[weight], group)
        return loss


def project(gradient: Tensor, basis: Tensor) -> Tensor:
    """Return the gradient in a projector's coordinates: shape (m, rank) or (rank, n)."""
    tall = gradient.shape[0] >= gradient.shape[1]
    return gradient @ basis.T if tall else basis.T @ gradient


def project_back(update: Tensor, basis: Tensor, shape: torch.Size) -> Tensor:
    """Return an update from a projector's coordinates to those of the weight's shape."""
    return update @ basis if shape[0] >= shape[1] else basis @ update


def _step_plain(weight: Tensor, state: Options, group: Options) -> None:
    assert weight.grad is not None
    _adamw(weight, weight.grad, state, group, weight_decay=group["weight_decay"])


def _step_projected(weight: Tensor, state: Options, group: Options, *, basis_of: MakeBasis) -> None:
    assert weight.grad is not None
    if int(state.get("step", 0)) % group["update_gap"] == 0:
        state["projector"] = basis_of(weight.grad, group["rank"])
    low = project(weight.grad, state["projector"])
    # From zero, AdamW's step is the update itself.
    update = torch.zeros_like(low)
    _adamw(update, low, state, group, weight_decay=0.0)
    weight.add_(project_back(update, state["projector"], weight.shape), alpha=group["scale"])
    if group["weight_decay"]:
        weight.mul_(1.0 - group["lr"] * group["weight_decay"])


def _adamw(
    weight: Tensor, gradient: Tensor, state: Options, group: Options, *, weight_decay: float
) -> None:
    """Take torch's AdamW step of one tensor; the moments are made at the first."""
    if "step" not in state:
        state["step"] = torch.zeros((), dtype=torch.float32, device="cpu")
        state["exp_avg"], state["exp_avg_sq"] = (torch.zeros_like(gradient) for _ in range(2))
    beta1, beta2 = group["betas"]
    adamw(
        [weight],
        [gradient],
        [state["exp_avg"]],
        [state["exp_avg_sq"]],
        [],
        [state["step"]],
        foreach=False,
        amsgrad=False,
        beta1=beta1,
        beta2=beta2,
        lr=group["lr"],
        weight_decay=weight_decay,
        eps=group["eps"],
        maximize=False,
    )


def _check(group: Options) -> None:
    if "rank" not in group:
        return
    missing = [name for name in ("update_gap", "scale") if name not in group]
    if missing:
        raise SpecError(f"a group with rank={group['rank']} lacks {', '.join(missing)}: name them")
    if group["rank"] < 1 or group["update_gap"] < 1:
        raise SpecError(
            f"rank={group['rank']} and update_gap={group['update_gap']}: need at least 1 of each"
        )
    odd = [tuple(weight.shape) for weight in group["params"] if weight.dim() != 2]
    if odd:
        raise SpecError(f"a group with a rank holds a tensor of shape {odd[0]}: need matrices")
