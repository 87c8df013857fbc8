"""A trained network: how it starts, how it is kept, and how it is found again.

A kept net holds all parameters and buffers after training, and the parameters before the
first step, which the direction theta_0 and the same-sign ratios need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.declare import DryRun, Outcome, RunContext, Status
from harness.declare.experiment import UpstreamResult
from harness.errors import SpecError
from harness.measure.dry_step import dry_step
from reproductions.asymvalley.method.layout import layout_of
from reproductions.asymvalley.models.image_nets import build_net, num_params, start_batch_norms
from reproductions.asymvalley.models.pairs import GREY, Net, Training
from reproductions.asymvalley.models.training import Settings, build_optimizer

KEPT = "solution.safetensors"
NO_NET = Outcome(rows=[], status=Status.DIVERGED, note="its network diverged in training")
"""What a walk through a network without numbers comes to."""
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
    model = build_net(params, generator=generator_of(ctx.seed("init")))
    start_batch_norms(model, params.bn_start, generator_of(ctx.seed("bn_start")))
    return model.to(ctx.device).to(memory_format=torch.channels_last)


def kept_tensors(model: nn.Module, initial: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return what is kept of a trained network and of its parameters before the first step."""
    kept = {f"{_FINAL}{name}": value for name, value in model.state_dict().items()}
    kept |= {f"{_INITIAL}{name}": value for name, value in initial.items()}
    return {name: value.cpu() for name, value in kept.items()}


def diverged(upstream: UpstreamResult) -> bool:
    """Say whether a training kept nothing."""
    return upstream.rows[0]["test_error"] is None


def kept_net(params: Net, ctx: RunContext, upstream: UpstreamResult) -> KeptNet | None:
    """Return the network of a training, None where that diverged."""
    return None if diverged(upstream) else load_net(params, ctx, upstream.load(KEPT))


def load_net(params: Net, ctx: RunContext, tensors: Mapping[str, Tensor]) -> KeptNet:
    """Return the network of `kept_tensors`.

    Raises SpecError where nothing was kept, or for a network of another architecture.
    """
    model = build_net(params, generator=torch.Generator())
    try:
        model.load_state_dict(final_state(tensors))
    except RuntimeError as error:
        raise SpecError(f"the kept net is of another architecture: {error}") from error
    initial_P = layout_of(model).flatten(_below(_INITIAL, tensors))
    model = model.to(ctx.device).to(memory_format=torch.channels_last).eval()
    return KeptNet(model=model, initial_P=initial_P.to(ctx.device))


def final_state(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the trained parameters and buffers of a kept net, by name."""
    return _below(_FINAL, tensors)


def settings_of(params: Training) -> Settings:
    """Return how a trial's network is trained."""
    return Settings(
        epochs=params.epochs,
        lr=params.lr,
        batch_size=params.batch_size,
        weight_decay=params.weight_decay,
        optimizer=params.optimizer,
        augment=params.augment,
    )


def generator_of(seed: int) -> torch.Generator:
    """Return a generator on the CPU."""
    return torch.Generator().manual_seed(seed)


def dry_run(params: Training) -> DryRun:
    """Count a trial's network and one step of it, on tensors that allocate nothing."""
    # What a step takes does not hang on these, and grids have many of each.
    unlike = {"seed": 0, "recipe": "base", "bn_start": "ones", "lr": 1.0, "weight_decay": 0.0}
    step = _one_step(replace(params, **unlike, epochs=1, augment=False))
    return replace(step, num_steps=step.num_steps * params.epochs)


@cache
def _one_step(params: Training) -> DryRun:
    """Return the dry run of one epoch."""
    settings = settings_of(params)
    images = min(settings.batch_size, params.num_train)

    def loss_of(model: nn.Module) -> Callable[[], Tensor]:
        channels, side = 1 if params.data in GREY else 3, params.image_size
        x_BCHW = torch.zeros(images, channels, side, side)
        labels = torch.zeros(images, dtype=torch.long)
        return lambda: F.cross_entropy(model(x_BCHW), labels)

    return dry_step(
        build_net(params, generator=torch.Generator(), device="meta"),
        lambda: build_net(params, generator=torch.Generator()),
        optimizer=lambda model: build_optimizer(model, settings),
        loss=loss_of,
        expected_num_params=num_params(params),
        num_steps=-(-params.num_train // settings.batch_size),
        copied=True,
    )


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): value for n, value in tensors.items() if n.startswith(prefix)}
