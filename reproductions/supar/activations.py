"""The coordinate check: does a typical entry change its size with width or density?

Per step and kind of module it measures the three quantities of the feature learning desiderata
(arXiv 2405.15743, section 2): the output Y, its change by one update, and the gradient that
reaches the input X. Works on any modules of one tensor input and output.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from reproductions.nets.gpt import GPT, next_token_loss
from reproductions.supar.text import Batch

Kinds = Mapping[str, Sequence[nn.Module]]
"""Modules to watch, by kind; what is measured is averaged over the modules of a kind."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Coordinates:
    """What one step shows of one kind of module."""

    step: int
    """From 0; the values are those before the step's update, but for `delta_y_rms`."""
    block: str
    mean_abs_activation: float
    """Mean magnitude of the output, before it is added to the residual."""
    delta_y_rms: float
    """Root mean square of the output's change on the same batch, by this step's update of the
    whole net."""
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
    """Train one step a batch at constant learning rates, and measure before and after each.

    Gradients are not clipped: a clip that acts at some densities only would hide or make shifts.
    """
    modules = [module for members in kinds.values() for module in members]
    rows: list[Coordinates] = []
    with watch(modules) as watched:
        for step, batch in enumerate(batches):
            next_token_loss(model(batch.tokens_BT), batch.targets_BT).backward()
            before, gradients = dict(watched.outputs), dict(watched.input_gradients)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            with torch.no_grad():
                model(batch.tokens_BT)
            change = {module: watched.outputs[module] - before[module] for module in modules}
            num_tokens = batch.tokens_BT.numel()
            rows += [
                Coordinates(
                    step=step,
                    block=kind,
                    mean_abs_activation=_mean(lambda m: before[m].abs().mean(), members),
                    delta_y_rms=_mean(lambda m: _rms(change[m]), members),
                    grad_x_rms=num_tokens * _mean(lambda m: _rms(gradients[m]), members),
                )
                for kind, members in kinds.items()
            ]
    return rows


def gpt_kinds(model: GPT) -> dict[str, list[nn.Module]]:
    """Return the attention and the feed-forward modules of a GPT."""
    return {
        kind: [block.get_submodule(kind) for block in model.blocks]
        for kind in ("attention", "feed_forward")
    }


def _mean(measure: Callable[[nn.Module], Tensor], members: Sequence[nn.Module]) -> float:
    return sum(float(measure(module)) for module in members) / len(members)


def _rms(tensor: Tensor) -> Tensor:
    return tensor.double().square().mean().sqrt()
