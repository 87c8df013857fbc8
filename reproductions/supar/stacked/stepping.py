"""The nets of a sweep, stepped as one stack or one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from reproductions.kernels.precision import apart
from reproductions.nets.gpt import GPT
from reproductions.supar.method.masks import max_abs_masked
from reproductions.supar.method.parameterization import Parameterization
from reproductions.supar.method.stacked import Stack
from reproductions.supar.models.gpt_trial import gpt_config, parameterization_of
from reproductions.supar.models.loss import gpt_loss
from reproductions.supar.models.training import (
    BETAS,
    EPS,
    Seeds,
    build_adamw,
    build_gpt,
    generator_of,
    groups_of,
)
from reproductions.supar.stacked.experiment import SweepStep

VOCABULARY, NUM_STEPS = 65, 3
"""Of nets that are held against each other."""
SMOOTH_EPS, CLIP_NORM = 1e-2, 0.3
"""Of their AdamW: with a small eps a step has the gradient's sign, and where that is rounding alone
two right implementations part. The norm is one that their gradients exceed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sweep:
    """Nets of one shape, before their first step."""

    models: Sequence[GPT]
    rules: Sequence[Parameterization]
    """Each with a rate of its own."""
    max_norm: float
    """To which gradients are clipped."""
    eps: float = EPS


class InAStack:
    """All nets at once."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep, self._stack = sweep, Stack(sweep.models)
        pairs = zip(sweep.models, sweep.rules, strict=True)
        groups = [groups_of(model, rules) for model, rules in pairs]
        self._optimizer = self._stack.adamw(groups, betas=BETAS, eps=sweep.eps)

    def step(self, tokens_MBT: Tensor, targets_MBT: Tensor) -> None:
        """Step every net on its part of a batch."""
        gpt_loss(self._stack, tokens_MBT, targets_MBT).sum().backward()
        self._stack.clip_grad_norm_(self._sweep.max_norm)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)

    def finish(self) -> Sequence[GPT]:
        """Return the nets with their weights of now."""
        self._stack.write_back()
        return self._sweep.models


class OneByOne:
    """One net after the other, as trials of a sweep are."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        pairs = zip(sweep.models, sweep.rules, strict=True)
        self._optimizers = [build_adamw(model, rules, eps=sweep.eps) for model, rules in pairs]

    def step(self, tokens_MBT: Tensor, targets_MBT: Tensor) -> None:
        members = zip(self._sweep.models, self._optimizers, tokens_MBT, targets_MBT, strict=True)
        for model, optimizer, tokens_BT, targets_BT in members:
            gpt_loss(model, tokens_BT, targets_BT).backward()
            clip_grad_norm_(model.parameters(), self._sweep.max_norm, foreach=True)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    def finish(self) -> Sequence[GPT]:
        return self._sweep.models


def sweep_of(params: SweepStep, seeds: Sequence[int], vocab_size: int) -> Sweep:
    """Build a net for each rate, with a start and masks of its own seed."""
    rules = [parameterization_of(replace(params, lr=lr)) for lr in params.rates]
    models = [
        build_gpt(
            gpt_config(params, each, vocab_size), each, Seeds(init=seed, masks=seed),
            mask_density=params.density, device=params.device,
        )
        for each, seed in zip(rules, seeds, strict=True)
    ]  # fmt: skip
    return Sweep(models=models, rules=rules, max_norm=params.max_norm)


def parting(params: SweepStep, seed: int) -> float:
    """Return how far nets in a stack end from the same nets trained one by one.

    As a share of how far these moved, in float32, the largest of all nets; infinite where a stack
    leaves anything under a mask.
    """
    seeds = [seed + number for number in range(params.num_members)]
    shape = (NUM_STEPS, 2, params.num_members, params.batch_size, params.context)
    batches = torch.randint(VOCABULARY, shape, generator=generator_of(seed)).to(params.device)

    def trained(way: type[InAStack | OneByOne]) -> Sequence[GPT]:
        sweep = sweep_of(params, seeds, VOCABULARY)
        stepping = way(replace(sweep, eps=SMOOTH_EPS, max_norm=CLIP_NORM))
        for tokens_MBT, targets_MBT in batches:
            stepping.step(tokens_MBT, targets_MBT)
        return stepping.finish()

    starts = map(_weights, sweep_of(params, seeds, VOCABULARY).models)
    together, alone = trained(InAStack), trained(OneByOne)
    if max(map(max_abs_masked, together)) > 0.0:
        return math.inf
    ends = zip(starts, map(_weights, together), map(_weights, alone), strict=True)
    return max(apart([ours - start], [theirs - start]) for start, ours, theirs in ends)


def _weights(model: GPT) -> Tensor:
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])
