"""Dynamic sparsity: masks that change while a model trains.

`Rigl` drops the smallest weights and grows those of the largest gradients; `Gmp` prunes a dense
net step by step. Both work on any module whose layers have masks, and keep nothing between
steps: masks are buffers of the model, moments lie in the optimizer, so a checkpoint of these
two holds all there is. The loop of a training step is

    with topology.backward(step):
        loss = loss_of(model, batch)
        loss.backward()
    if topology.update(step):
        optimizer.step()
    optimizer.zero_grad()

Sources: RigL, arXiv 1911.11134, Algorithm 1; gradual magnitude pruning, arXiv 1710.01878,
equation 1; how SmuPar used both, arXiv 2405.15743, Figure 12 and footnotes 8, 9.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from harness.errors import RunError, SpecError
from reproductions.supar.method.density import Density, check_density, check_kept, density_of
from reproductions.supar.method.masked_layer import (
    MaskedLinear,
    attach_mask,
    dense_gradients,
    linear_named,
)
from reproductions.supar.method.masks import listed, masked_layers
from reproductions.supar.method.optimizers import check_trained

RegrownMoments = Literal["zeroed", "kept"]
"""What Adam knows of a weight that comes back. `zeroed`: nothing. `kept`: its second moment from
before, decayed while it was masked; the first is zero in any case, or masked weights would move."""

MANY = 16
"""So many gradients are not all 0 by chance, as few may be behind units that are off."""
_SECOND_MOMENTS = ("exp_avg_sq", "max_exp_avg_sq")


@dataclass(frozen=True, kw_only=True, slots=True)
class UpdateSchedule:
    """When masks are updated; steps count from 0."""

    num_steps: int
    """Steps of the whole training."""
    interval: int
    """Steps from one update to the next; the first is at step `interval`."""
    end_step: int
    """Where changes end: GMP is at its density there, RigL's drop fraction at 0."""

    def __post_init__(self) -> None:
        if not 1 <= self.interval <= self.end_step < self.num_steps:
            raise SpecError(
                f"interval={self.interval}, end_step={self.end_step}: "
                f"need 1 <= interval <= end_step < num_steps={self.num_steps}"
            )

    def due(self, step: int) -> bool:
        """Return whether masks are updated at a step: every `interval` steps, and at the end."""
        if not 0 < step <= self.end_step:
            return False
        return step % self.interval == 0 or step == self.end_step


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rigl:
    """Move a part of each layer's weights to where the gradient is largest, now and then.

    An update takes the place of an optimizer step, as in Algorithm 1: the batch's gradient is
    spent on choosing. The smallest of each mask's weights are dropped, then as many with the
    largest gradients grown from 0. A weight just dropped is a candidate too, as in the authors'
    code; if chosen it stays as it was. Ties go to the first in row-major order (the authors
    break them by noise).
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    schedule: UpdateSchedule
    drop_fraction: float
    """Part of the active weights dropped, before annealing; 0.3 in SmuPar."""
    regrown_moments: RegrownMoments

    def __post_init__(self) -> None:
        _check_masked(self.model)
        if not 0.0 < self.drop_fraction < 1.0:
            raise SpecError(f"drop_fraction={self.drop_fraction}: need 0 < drop_fraction < 1")
        if self.regrown_moments not in ("zeroed", "kept"):
            raise SpecError(f"regrown_moments={self.regrown_moments!r}: need 'zeroed' or 'kept'")
        if self.schedule.interval < 2:
            raise SpecError("interval=1: RigL would never let the optimizer step; need 2 or more")
        check_trained(self.optimizer, masked_layers(self.model))

    def backward(self, step: int) -> AbstractContextManager[None]:
        """Keep the gradients of masked weights, at steps that update the masks and no others.

        Forward passes have to be within, too, where torch.compile makes them.
        """
        if not self._due(step):
            return nullcontext()
        return dense_gradients(masked_layers(self.model).values())

    @torch.no_grad()
    def update(self, step: int) -> bool:
        """Drop and grow where that is due, and return whether the optimizer is to step.

        The gradients of the layers are gone after an update. Where one of them is not finite, as
        when a scaled loss overflows, masks stay, with a RuntimeWarning, and the optimizer is to
        step. Raises SpecError where a layer has none before it, or those of masked weights were
        not kept, and RunError for weights that are not finite.
        """
        if not self._due(step):
            return True
        _check_gradients(self.model)
        if not _finite_gradients(self.model):
            warnings.warn(
                f"step {step}: a gradient is not finite, so that RigL leaves the masks as they are",
                RuntimeWarning,
                stacklevel=2,
            )
            return True
        fraction = cosine_drop_fraction(
            step, initial=self.drop_fraction, end_step=self.schedule.end_step
        )
        keep = _SECOND_MOMENTS if self.regrown_moments == "kept" else ()
        for layer in masked_layers(self.model).values():
            mask = layer.weight_mask
            num_dropped = math.floor(fraction * int(mask.sum()))
            assert layer.weight.grad is not None
            new = regrow(layer.weight, layer.weight.grad, mask, num_dropped=num_dropped)
            _replace_mask(layer, new, self.optimizer, keep=keep)
            layer.weight.grad = None
        return False

    def _due(self, step: int) -> bool:
        # At the end the drop fraction is 0: an update would only cost an optimizer step.
        return self.schedule.due(step) and step < self.schedule.end_step


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Gmp:
    """Prune each layer's smallest weights, from dense to a final density, for good.

    Every layer needs a mask from the start, a full one (`attach_full_masks`); pruning comes
    before the optimizer's step, which is taken at every step. A matrix keeps exactly
    round(density * size) weights; ties go to the first in row-major order.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    schedule: UpdateSchedule
    density: Density
    """At the end: one for all masked layers, or one per layer, by its name."""

    def __post_init__(self) -> None:
        _check_masked(self.model)
        layers = masked_layers(self.model)
        check_density(self.density, layers)
        for name, layer in layers.items():
            density = density_of(self.density, name)
            check_kept(round(density * layer.weight.numel()), name, density)

    def backward(self, step: int) -> AbstractContextManager[None]:
        """Leave the backward pass as it is."""
        return nullcontext()

    @torch.no_grad()
    def update(self, step: int) -> bool:
        """Prune where that is due; the optimizer is to step in any case.

        Raises RunError for weights that are not finite.
        """
        if not self.schedule.due(step):
            return True
        for name, layer in masked_layers(self.model).items():
            density = cubic_density(
                step, final=density_of(self.density, name), end_step=self.schedule.end_step
            )
            mask = layer.weight_mask
            new = prune(layer.weight, mask, num_kept=round(density * mask.numel()))
            _replace_mask(layer, new, self.optimizer, keep=())
            if layer.weight.grad is not None:
                layer.weight.grad.masked_fill_(~new, 0.0)
        return True


def _finite_gradients(model: nn.Module) -> bool:
    """Say whether all gradients of masked layers are finite; where not, mask them.

    The optimizer, or a scaler that skips its step, then sees what it would have without RigL.
    """
    layers = masked_layers(model).values()
    gradients = [(layer.weight.grad, layer.weight_mask) for layer in layers]
    if all(bool(grad.isfinite().all()) for grad, _ in gradients if grad is not None):
        return True
    for grad, mask in gradients:
        if grad is not None:
            grad.masked_fill_(~mask, 0.0)
    return False


def cosine_drop_fraction(step: int, *, initial: float, end_step: int) -> float:
    """Return the fraction of active weights to drop: half a cosine from `initial` to 0.

    Source: arXiv 1911.11134, section 3, (2) update schedule.

    >>> cosine_drop_fraction(50, initial=0.3, end_step=100)
    0.15
    """
    return initial / 2.0 * (1.0 + math.cos(math.pi * step / end_step))


def cubic_density(step: int, *, final: float, end_step: int) -> float:
    """Return the density at a step: 1 at step 0, `final` from `end_step` on.

    Source: arXiv 1710.01878, equation 1, from dense: sparsity s_f (1 - (1 - t / T)^3), so
    written that rounding cannot miss the final density.

    >>> cubic_density(50, final=0.2, end_step=100)
    0.30000000000000004
    """
    left = max(0.0, 1.0 - step / end_step)
    return final + (1.0 - final) * left**3


def regrow(weight: Tensor, gradient: Tensor, mask: Tensor, *, num_dropped: int) -> Tensor:
    """Return the mask after dropping the smallest weights and growing the largest gradients.

    gradient: of the loss in all weights, masked ones too. Keeps the number of active weights.
    """
    kept = prune(weight, mask, num_kept=int(mask.sum()) - num_dropped)
    return kept | _largest(gradient.abs(), num_dropped, among=~kept)


def prune(weight: Tensor, mask: Tensor, *, num_kept: int) -> Tensor:
    """Return the mask of the largest active weights; `mask` itself where it has no more."""
    return _largest(weight.abs(), num_kept, among=mask)


def attach_full_masks(model: nn.Module, layers: Iterable[str]) -> None:
    """Give linear layers masks that keep every weight, where pruning is to start.

    Raises SpecError for anything but an unmasked nn.Linear with a weight of its own.
    """
    chosen = {name: linear_named(model, name) for name in listed(layers)}
    for name, module in chosen.items():
        attach_mask(model, name, torch.ones_like(module.weight, dtype=torch.bool))


def _largest(scores: Tensor, count: int, *, among: Tensor) -> Tensor:
    """Return a mask of the `count` largest scores, none negative, among candidates."""
    if not scores.masked_fill(~among, 0.0).isfinite().all():
        # Sorted, they would stand in row-major order, and training would go on.
        raise RunError("weights are not finite, and none can be chosen by size: training diverged")
    ranked = scores.masked_fill(~among, -1.0).flatten().argsort(descending=True, stable=True)
    chosen = torch.zeros(among.numel(), dtype=torch.bool, device=among.device)
    chosen[ranked[:count]] = True
    return chosen.view(among.shape) & among


def _replace_mask(
    layer: MaskedLinear, new: Tensor, optimizer: torch.optim.Optimizer, *, keep: tuple[str, ...]
) -> None:
    """Change a layer's mask; what was not active before and after starts, or stays, at zero.

    keep: names of the optimizer's entries that stay as they are; of others, those of the
    weight's shape are zeroed, since momentum would carry a dropped weight away from zero.
    """
    mask = layer.weight_mask
    changed = ~(mask & new)
    layer.weight.masked_fill_(changed, 0.0)
    for name, entry in optimizer.state.get(layer.weight, {}).items():
        if isinstance(entry, Tensor) and entry.shape == mask.shape and name not in keep:
            entry.masked_fill_(changed, 0.0)
    mask.copy_(new)


def _check_gradients(model: nn.Module) -> None:
    """Raise SpecError unless there are gradients to grow by, those of masked weights among them."""
    for name, layer in masked_layers(model).items():
        gradient = layer.weight.grad
        if gradient is None:
            raise SpecError(f"layer {name!r} has no gradient: update masks after a backward")
        if _lost(gradient, layer.weight_mask):
            raise SpecError(
                f"the gradients of masked weights of layer {name!r} are all 0: put the forward"
                " pass, too, within `with topology.backward(step)`, which keeps them"
            )


def _lost(gradient: Tensor, mask: Tensor) -> bool:
    """Say whether masked weights have no gradient where their inputs and outputs have some."""
    is_there = (gradient != 0.0) & mask
    expected = ~mask & is_there.any(dim=1, keepdim=True) & is_there.any(dim=0, keepdim=True)
    return int(expected.sum()) >= MANY and not bool((gradient[~mask] != 0.0).any())


def _check_masked(model: nn.Module) -> None:
    if not masked_layers(model):
        raise SpecError("this model has no masked layer: call sparsify or attach_full_masks first")
