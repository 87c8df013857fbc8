"""A network: how it starts, how it is kept after training and found again, and those of others.

A kept net holds all parameters and buffers after training, and the parameters before the
first step, which the direction theta_0 and the same-sign ratios need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from harness.declare import DryRun, Experiment, Outcome, RunContext, Status
from reproductions.asymvalley.method.layout import layout_of
from reproductions.asymvalley.models.image_nets import one_step, plan_of, start_batch_norms
from reproductions.asymvalley.models.pairs import DATA, Net, Training

KEPT = "solution.safetensors"
NO_NET = Outcome(rows=[], status=Status.DIVERGED, note="its network diverged in training")
"""What a walk through a network without numbers comes to."""
STAGED_CLASSES = 10
"""Of the CIFAR-10 ResNets of the data catalogue."""
_FINAL, _INITIAL = "final.", "initial."


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class KeptNet:
    """A trained network with its start."""

    model: nn.Module
    """In evaluation mode."""
    initial_P: Tensor
    """theta_0, shape (P,)."""


def start_of(params: Training, ctx: RunContext) -> nn.Module:
    """Return a trial's network before its first step; the start depends on the seed alone."""
    model = plan_of(params).net(generator=generator_of(ctx.seed("init")))
    start_batch_norms(model, params.bn_start, generator_of(ctx.seed("bn_start")))
    return _placed(model, ctx)


def staged_net(
    params: Net, weights: str, ctx: RunContext, *, generator: torch.Generator
) -> nn.Module:
    """Return a network that others trained: its weights are the data set `weights`.

    weights: empty for the start that `generator` draws, at `smoke`, where nothing but bundled data
    is at hand. For other classes than CIFAR-10's it draws the last layer.
    """
    model = plan_of(params).net(generator=generator)
    if weights:
        arrays = ctx.dataset(weights).arrays
        state = {name: torch.tensor(value) for name, value in arrays.items()}
        if DATA[params.data].classes != STAGED_CLASSES:
            drawn = model.state_dict()
            state |= {name: drawn[name] for name in state if state[name].shape != drawn[name].shape}
        model.load_state_dict(state)
    return _placed(model, ctx)


def kept_tensors(model: nn.Module, initial: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return what is kept of a trained network and of its parameters before the first step."""
    kept = {f"{_FINAL}{name}": value for name, value in model.state_dict().items()}
    kept |= {f"{_INITIAL}{name}": value for name, value in initial.items()}
    return {name: value.cpu() for name, value in kept.items()}


def kept_net(params: Training, ctx: RunContext, nets: Experiment) -> KeptNet | None:
    """Return the network that a trial starts from, None where its training diverged.

    nets: the experiment that trains it.
    """
    upstream = ctx.upstream(nets, params.training())
    if upstream.rows[0]["test_error"] is None:
        return None
    tensors = upstream.load(KEPT)
    model = plan_of(params).net(generator=torch.Generator())
    model.load_state_dict(_below(_FINAL, tensors))
    initial_P = layout_of(model).flatten(_below(_INITIAL, tensors))
    return KeptNet(model=_placed(model, ctx).eval(), initial_P=initial_P.to(ctx.device))


def generator_of(seed: int) -> torch.Generator:
    """Return a generator on the CPU."""
    return torch.Generator().manual_seed(seed)


def dry_run(params: Training) -> DryRun:
    """Count a trial's network and its steps, on tensors that allocate nothing."""
    batch_size = min(params.batch_size, params.num_train)
    step = one_step(plan_of(params), batch_size, params.optimizer)
    return replace(step, num_steps=-(-params.num_train // params.batch_size) * params.epochs)


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): value for n, value in tensors.items() if n.startswith(prefix)}


def _placed(model: nn.Module, ctx: RunContext) -> nn.Module:
    """Move a network to a trial's device, its filters in channels-last order as images are."""
    return model.to(ctx.device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch declares no such argument
