"""The coordinate check: does a typical entry change its size with width or density?

Per step and layer it measures the three quantities of the feature learning desiderata
(arXiv 2405.15743, section 2): the output Y, its change by one update, and the gradient that
reaches the input X. Works on any modules whose first argument and output are tensors, and that
are called once in a forward pass.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import torch
from torch import Tensor, nn

from harness.errors import SpecError

B = TypeVar("B")
Layers = Mapping[str, nn.Module]
"""The modules to watch, by name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Coordinates:
    """What one step shows of one layer."""

    step: int
    """Updates made before the measurement."""
    layer: str
    mean_abs_activation: float
    """Mean magnitude of the output; of a block, before it is added to the residual."""
    delta_y_rms: float | None
    """Root mean square of the output's change by the last update of the whole net, on the batch
    of that update; None before the first."""
    grad_x_rms: float
    """Root mean square of the gradient at the input. The loss is a mean over tokens, so it is
    multiplied by their number: the gradient of the summed loss, whatever the batch."""


@dataclass(slots=True)
class Watched:
    """Outputs, and gradients at inputs, of the last pass."""

    outputs: dict[str, Tensor] = field(default_factory=dict)
    input_gradients: dict[str, Tensor] = field(default_factory=dict)


@contextlib.contextmanager
def watch(layers: Layers) -> Iterator[Watched]:
    """Keep the outputs of layers, and the gradients at their first inputs, of the last pass."""
    watched = Watched()
    handles = [_watch_one(name, module, watched) for name, module in layers.items()]
    try:
        yield watched
    finally:
        for handle in handles:
            handle.remove()


def _watch_one(name: str, layer: nn.Module, watched: Watched) -> torch.utils.hooks.RemovableHandle:
    def keep(gradient: Tensor) -> None:
        watched.input_gradients[name] = gradient.detach()

    def after_forward(_: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        watched.outputs[name] = output.detach()
        if inputs[0].requires_grad:
            inputs[0].register_hook(keep)

    return layer.register_forward_hook(after_forward)


def measure_steps(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[B],
    layers: Layers,
    *,
    loss: Callable[[nn.Module, B], Tensor],
) -> list[Coordinates]:
    """Measure before each step, at constant learning rates; the last batch is not trained on.

    loss: from the model and a batch to the mean over its tokens (or samples).
    Gradients are not clipped: a clip that acts at some densities only would hide or make shifts.
    Raises SpecError for a layer whose input gets no gradient.
    """
    rows: list[Coordinates] = []
    last: B | None = None
    with watch(layers) as watched:
        for step, batch in enumerate(batches):
            change: dict[str, Tensor] = {}
            if last is not None:
                before = dict(watched.outputs)
                optimizer.step()
                with torch.no_grad():
                    loss(model, last)
                change = {name: watched.outputs[name] - before[name] for name in before}
            # Also what the caller's own passes left behind.
            optimizer.zero_grad(set_to_none=True)
            watched.input_gradients.clear()
            loss(model, batch).backward()
            rows += [_measure(step, name, watched, change.get(name)) for name in layers]
            last = batch
    return rows


def _measure(step: int, layer: str, watched: Watched, change: Tensor | None) -> Coordinates:
    if layer not in watched.input_gradients:
        raise SpecError(f"no gradient reaches the input of layer {layer!r}: watch other layers")
    output = watched.outputs[layer]
    # Outputs keep the shape of the tokens in front of their features.
    num_tokens = output.numel() // output.shape[-1]
    return Coordinates(
        step=step,
        layer=layer,
        mean_abs_activation=float(output.double().abs().mean()),
        delta_y_rms=None if change is None else _rms(change),
        grad_x_rms=num_tokens * _rms(watched.input_gradients[layer]),
    )


def _rms(tensor: Tensor) -> float:
    return float(tensor.double().square().mean().sqrt())
