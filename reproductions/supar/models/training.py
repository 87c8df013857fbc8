"""Train a masked GPT under a parameterization, and say how it went.

Three random streams, each from an explicit seed: the start, the masks, the batches. At equal
seeds all schemes see the same draws, masks and batches, so their losses are paired.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from harness.errors import SpecError
from harness.store.checkpoint import Checkpoints
from reproductions.kernels.adamw.optimizer import adamw_for
from reproductions.nets.gpt import GPT, GPTConfig, next_token_loss
from reproductions.supar.method.density import Density
from reproductions.supar.method.dynamic import Gmp, Rigl
from reproductions.supar.method.masked_layer import MASK
from reproductions.supar.method.masks import Pattern, linear_layers, masked_layers, sparsify
from reproductions.supar.method.parameterization import Parameterization, param_groups
from reproductions.supar.method.roles import infer_roles
from reproductions.supar.method.stacked import Stack
from reproductions.supar.models.loss import gpt_loss
from reproductions.supar.models.points import Training
from reproductions.supar.models.text import Batch

BETAS, EPS = (0.9, 0.95), 1e-8
"""Of Adam, as in the authors' code; eps must stay far below the root of its second moments."""
CHECK_EVERY = 25
"""Steps between looks at the loss; each look waits for the device."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seeds:
    """Seeds of the random streams of a model."""

    init: int
    masks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainLog:
    """What a training run leaves behind."""

    losses: Tensor
    """Loss of every step before its update, shape (num_steps,), on the CPU; NaN after a stop."""
    num_steps: int
    """Steps done."""
    num_clipped: int
    diverged: str
    """Where and how the run diverged; empty where it did not."""

    @property
    def clip_rate(self) -> float:
        """Fraction of all steps, those without an update too."""
        return self.num_clipped / self.num_steps

    @property
    def final_loss(self) -> float:
        """Mean loss of the last tenth of the steps, each on a fresh batch."""
        return float(self.losses[-max(1, len(self.losses) // 10) :].double().mean())


def generator_of(seed: int, device: torch.device | str = "cpu") -> torch.Generator:
    """Return a generator of its own for one random stream."""
    return torch.Generator(device=device).manual_seed(seed)


def build_gpt(
    config: GPTConfig,
    parameterization: Parameterization,
    seeds: Seeds,
    *,
    mask_density: Density,
    device: torch.device | str = "cpu",
    pattern: Pattern = "exact",
) -> GPT:
    """Return a GPT with masks and start drawn under a parameterization.

    Every linear layer is hidden and sparse; embeddings, positions and norms are neither.
    mask_density: fraction of weights kept at the start; that of the parameterization, unless
    pruning is to lead there.
    """
    init = generator_of(seeds.init, device if torch.device(device).type == "cuda" else "cpu")
    model = GPT(config, generator=init, device=device)
    hidden = linear_layers(model, exclude=())
    masks = generator_of(seeds.masks)
    sparsify(model, layers=hidden, density=mask_density, generator=masks, pattern=pattern)
    parameterization.initialize(model, infer_roles(model, hidden), init)
    return model


def groups_of(model: nn.Module, parameterization: Parameterization) -> list[dict[str, Any]]:
    """Return the parameter groups of a GPT built by `build_gpt`, without weight decay."""
    roles = infer_roles(model, linear_layers(model, exclude=()))
    return param_groups(model, parameterization, roles, weight_decay=0.0, decay="coupled")


def build_adamw(
    model: nn.Module, parameterization: Parameterization, *, eps: float = EPS
) -> torch.optim.Optimizer:
    """Return AdamW over the groups of a GPT, by a kernel on CUDA."""
    masks = {layer.weight: layer for layer in masked_layers(model).values()}
    return adamw_for(
        groups_of(model, parameterization), betas=BETAS, eps=eps, fused=True,
        # Asked anew each time: methods that grow or prune replace the mask.
        mask_of=lambda weight: getattr(masks.get(weight), MASK, None),
    )  # fmt: skip


def lr_factor(step: int, training: Training) -> float:
    """Return the learning rate of a step over its peak; steps count from 0.

    `to_tenth` is the paper's "10x linear", `to_zero` its "decay to zero", both read as linear.
    """
    if step < training.warmup_steps:
        return (step + 1) / training.warmup_steps
    floor = {"to_tenth": 0.1, "to_zero": 0.0, "constant": 1.0}[training.schedule]
    progress = (step - training.warmup_steps) / (training.steps - training.warmup_steps)
    return 1.0 - (1.0 - floor) * progress


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[Batch],
    training: Training,
    *,
    topology: Rigl | Gmp | None = None,
    checkpoint: Path | None = None,
) -> TrainLog:
    """Train in place; stop early, and say so, where the loss is no longer finite.

    topology: what changes the masks on the way; None where they stay.
    checkpoint: where the state is kept every two minutes; if one is there, training goes on from
    it as if it had never stopped. `batches` must be the same from the start.
    """
    model.train()
    logs = _empty_logs((training.steps,), optimizer)
    # The batches were drawn before the first step, so no random stream is in use.
    kept = Checkpoints(checkpoint, model=model, optimizer=optimizer, tensors=logs)
    first = kept.resume()
    _steps(model, optimizer, batches, training, logs, first, topology=topology, keep=kept.keep)
    return _summarize(**logs, training=training)


def train_stack(
    stack: Stack, optimizer: torch.optim.Optimizer, batches: Iterable[Batch], training: Training
) -> list[TrainLog]:
    """Train all members in place, each as `train` would alone; batches hold (M, B, T)."""
    logs = _empty_logs((training.steps, len(stack)), optimizer)
    _steps(stack, optimizer, batches, training, logs)
    members = zip(logs["losses"].unbind(dim=1), logs["norms"].unbind(dim=1), strict=True)
    return [_summarize(losses, norms, training) for losses, norms in members]


def _empty_logs(shape: tuple[int, ...], optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    device = optimizer.param_groups[0]["params"][0].device
    losses = torch.full(shape, math.nan, device=device)
    return {"losses": losses, "norms": torch.zeros_like(losses)}


def _steps(
    model: nn.Module | Stack,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[Batch],
    training: Training,
    logs: Mapping[str, Tensor],
    first: int = 0,
    *,
    topology: Rigl | Gmp | None = None,
    keep: Callable[[int], None] = lambda step: None,
) -> None:
    """Take all steps from `first`, and fill the logs; stop early where no loss is finite.

    keep: called after each step with the number of those done.
    """
    peaks = [group["lr"] for group in optimizer.param_groups]
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    device, losses, norms = parameters[0].device, logs["losses"], logs["norms"]
    step = first - 1
    for step, batch in enumerate(itertools.islice(batches, first, None), start=first):
        _set_rates(optimizer, peaks, lr_factor(step, training))
        with topology.backward(step) if topology else nullcontext():
            losses[step] = _backward(model, batch.to(device), training.micro_batches)
        if topology is None or topology.update(step):
            norms[step] = _clip(model, parameters, training.max_norm)
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % CHECK_EVERY == 0 and not _any_finite(losses[: step + 1]):
            break
        keep(step + 1)
    if step + 1 < training.steps and _any_finite(losses[: step + 1]):
        raise SpecError(f"{step + 1} batches for steps={training.steps}: need one a step")


def _set_rates(optimizer: torch.optim.Optimizer, peaks: list[float], factor: float) -> None:
    for group, peak in zip(optimizer.param_groups, peaks, strict=True):
        group["lr"] = peak * factor


def _any_finite(losses: Tensor) -> bool:
    """Tell whether the losses of a net, or of any member of a stack, were all finite so far."""
    return bool(torch.isfinite(losses).all(dim=0).any())


def _clip(model: nn.Module | Stack, parameters: list[Tensor], max_norm: float) -> Tensor:
    """Clip the gradients of a net, or of each member of a stack; return the norms before."""
    if isinstance(model, Stack):
        return model.clip_grad_norm_(max_norm)
    return clip_grad_norm_(parameters, max_norm, foreach=True)


def _backward(model: nn.Module | Stack, batch: Batch, num_parts: int) -> Tensor:
    """Add the gradient of the mean loss of a batch, and return that loss; of a stack, each's."""
    total = torch.zeros((), device=batch.tokens_BT.device)
    tokens, targets = batch.tokens_BT, batch.targets_BT
    parts = zip(tokens.chunk(num_parts, dim=-2), targets.chunk(num_parts, dim=-2), strict=True)
    for some_tokens, some_targets in parts:
        share = some_tokens.shape[-2] / tokens.shape[-2]
        loss = gpt_loss(model, some_tokens, some_targets) * share
        loss.sum().backward()
        total = total + loss.detach()
    return total


@torch.no_grad()
def evaluate(model: nn.Module, batch: Batch) -> float:
    """Return the mean loss on one batch, in nats per token."""
    model.eval()
    batch = batch.to(next(model.parameters()).device)
    return float(next_token_loss(model(batch.tokens_BT), batch.targets_BT))


def _summarize(losses: Tensor, norms: Tensor, training: Training) -> TrainLog:
    """Return the log of a run; one whose loss is no longer finite ends at the next look at it."""
    num_steps, diverged = len(losses), ""
    found = torch.isfinite(losses).logical_not().nonzero()
    if len(found):
        last = int(found[0])
        num_steps = min(num_steps, -(-last // CHECK_EVERY) * CHECK_EVERY + 1)
        diverged = f"the loss is not finite at step {last}"
    return TrainLog(
        losses=losses.cpu(),
        num_steps=num_steps,
        num_clipped=int((norms[:num_steps] > training.max_norm).sum()),
        diverged=diverged,
    )
