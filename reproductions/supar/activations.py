"""The coordinate check: does a typical entry change its size with width or density?

Per step and kind of module it measures the three quantities of the feature learning desiderata
(arXiv 2405.15743, section 2): the output Y, its change by one update, and the gradient that
reaches the input X. Works on any modules of one tensor input and output.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.nets.gpt import GPT, next_token_loss
from reproductions.supar.text import Batch

Kinds = Mapping[str, Sequence[nn.Module]]
"""Modules to watch, by kind; what is measured is averaged over the modules of a kind."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Coordinates:
    """What one step shows of one kind of module."""

    step: int
    """Updates made before the measurement."""
    block: str
    mean_abs_activation: float
    """Mean magnitude of the output, before it is added to the residual."""
    delta_y_rms: float | None
    """Root mean square of the output's change by the last update of the whole net, on the batch
    of that update; None before the first."""
    grad_x_rms: float
    """Root mean square of the gradient at the input. The loss is a mean over tokens, so it is
    multiplied by their number: the gradient of the summed loss, whatever the batch."""


@dataclass(slots=True)
class Watched:
    """Outputs, and gradients at inputs, of the last pass."""

    outputs: dict[nn.Module, Tensor] = field(default_factory=dict)
    input_gradients: dict[nn.Module, Tensor] = field(default_factory=dict)


@contextlib.contextmanager
def watch(modules: Iterable[nn.Module]) -> Iterator[Watched]:
    """Keep the outputs of modules, and the gradients at their first inputs, of the last pass."""
    watched = Watched()

    def after_forward(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        watched.outputs[module] = output.detach()
        if inputs[0].requires_grad:
            inputs[0].register_hook(lambda gradient: _keep(module, gradient))

    def _keep(module: nn.Module, gradient: Tensor) -> None:
        watched.input_gradients[module] = gradient.detach()

    handles = [module.register_forward_hook(after_forward) for module in modules]
    try:
        yield watched
    finally:
        for handle in handles:
            handle.remove()


def coordinate_check(
    model: nn.Module, optimizer: torch.optim.Optimizer, batches: Iterable[Batch], kinds: Kinds
) -> list[Coordinates]:
    """Measure before each step, at constant learning rates; the last batch is not trained on.

    Gradients are not clipped: a clip that acts at some densities only would hide or make shifts.
    Raises SpecError for a module whose input needs no gradient.
    """
    modules = [module for members in kinds.values() for module in members]
    device = next(model.parameters()).device
    rows: list[Coordinates] = []
    last: Batch | None = None
    with watch(modules) as watched:
        for step, batch in enumerate(batch.to(device) for batch in batches):
            change = None if last is None else _update(model, optimizer, last, watched)
            next_token_loss(model(batch.tokens_BT), batch.targets_BT).backward()
            rows += [_measure(step, kind, kinds[kind], watched, change) for kind in kinds]
            last = batch
    return rows


def _update(
    model: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch, watched: Watched
) -> dict[nn.Module, Tensor]:
    """Take the step that the gradients ask for, and return how it changes the outputs."""
    before = dict(watched.outputs)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    with torch.no_grad():
        model(batch.tokens_BT)
    return {module: watched.outputs[module] - before[module] for module in before}


def _measure(
    step: int,
    kind: str,
    members: Sequence[nn.Module],
    watched: Watched,
    change: Mapping[nn.Module, Tensor] | None,
) -> Coordinates:
    if missing := [module for module in members if module not in watched.input_gradients]:
        raise SpecError(f"no gradient reaches the input of {type(missing[0]).__name__} ({kind})")
    outputs = [watched.outputs[module] for module in members]
    gradients = [watched.input_gradients[module] for module in members]
    # Outputs keep the shape of the tokens in front of their features.
    num_tokens = outputs[0].numel() // outputs[0].shape[-1]
    return Coordinates(
        step=step,
        block=kind,
        mean_abs_activation=_mean(output.double().abs().mean() for output in outputs),
        delta_y_rms=None if change is None else _mean(_rms(change[m]) for m in members),
        grad_x_rms=num_tokens * _mean(_rms(gradient) for gradient in gradients),
    )


def gpt_kinds(model: GPT) -> dict[str, list[nn.Module]]:
    """Return the attention and the feed-forward modules of a GPT."""
    return {
        kind: [block.get_submodule(kind) for block in model.blocks]
        for kind in ("attention", "feed_forward")
    }


def _mean(sizes: Iterable[Tensor]) -> float:
    return float(torch.stack(list(sizes)).mean())


def _rms(tensor: Tensor) -> Tensor:
    return tensor.double().square().mean().sqrt()
