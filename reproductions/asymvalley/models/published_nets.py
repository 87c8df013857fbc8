"""Networks that others trained: the CIFAR-10 ResNets of the data catalogue."""

from __future__ import annotations

import torch
from torch import nn

from harness.declare import RunContext
from harness.errors import SpecError
from reproductions.asymvalley.models.image_nets import build_net
from reproductions.asymvalley.models.pairs import NUM_CLASSES, Net

CIFAR10_CLASSES = 10


def load_staged(params: Net, weights: str, ctx: RunContext) -> nn.Module:
    """Return the network whose weights are the data set `weights`, or one at its start.

    weights: empty at `smoke`, where nothing but bundled data is at hand.
    Raises SpecError for weights of another architecture.
    """
    model = build_net(params, generator=torch.Generator().manual_seed(0))
    if weights:
        _load(model, _tensors(ctx, weights), weights)
    return model.to(ctx.device).to(memory_format=torch.channels_last).eval()


def load_pretrained(
    params: Net, weights: str, ctx: RunContext, *, head: torch.Generator
) -> nn.Module:
    """Return a pre-trained network with a new last layer for the classes of a trial's data.

    weights: as in `load_staged`. head: draws the new layer.
    """
    model = build_net(params, generator=head)
    if weights:
        kept = _tensors(ctx, weights)
        if NUM_CLASSES[params.data] != CIFAR10_CLASSES:
            fresh = dict(model.state_dict())
            kept |= {key: fresh[key] for key in kept if kept[key].shape != fresh[key].shape}
        _load(model, kept, weights)
    return model.to(ctx.device).to(memory_format=torch.channels_last)


def _tensors(ctx: RunContext, name: str) -> dict[str, torch.Tensor]:
    return {key: torch.tensor(value) for key, value in ctx.dataset(name).arrays.items()}


def _load(model: nn.Module, state: dict[str, torch.Tensor], name: str) -> None:
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        reason = str(error).splitlines()[1].strip()
        raise SpecError(f"the weights {name} are of another architecture: {reason}") from error
