"""The coordinate check: does a typical entry change its size with width or density?

Per step and layer it measures the three quantities of the feature learning desiderata
(arXiv 2405.15743, section 2): the output Y, its change by one update, and the gradient that
reaches the input X. Works on any modules that are called once in a forward pass and whose input
and output are tensors, or hold one: their first counts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd
from torch.utils.hooks import RemovableHandle

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
    """Root mean square of the gradient at the input: of this layer's use of it alone, where other
    layers or a residual stream take the same tensor. The loss is a mean over tokens, so it is
    multiplied by their number: the gradient of the summed loss, whatever the batch."""


@dataclass(slots=True)
class Watched:
    """Outputs, and gradients at inputs, of one pass."""

    outputs: dict[str, Tensor] = field(default_factory=dict)
    input_gradients: dict[str, Tensor] = field(default_factory=dict)

    def forget(self) -> None:
        """Make ready for another pass."""
        self.outputs, self.input_gradients = {}, {}


@contextlib.contextmanager
def watch(layers: Layers) -> Iterator[Watched]:
    """Keep the outputs of layers, and the gradients at their inputs, of one pass."""
    watched = Watched()
    with contextlib.ExitStack() as handles:
        for name, module in layers.items():
            handles.enter_context(_give_own_input(name, module, watched))
            handles.enter_context(_keep_output(name, module, watched))
        yield watched


def _give_own_input(name: str, layer: nn.Module, watched: Watched) -> RemovableHandle:
    def keep(gradient: Tensor) -> None:
        watched.input_gradients[name] = gradient.detach()

    def before_forward(_: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
        given = next((x for x in (*inputs, *named.values()) if isinstance(x, Tensor)), None)
        if given is None or not (torch.is_grad_enabled() and given.is_floating_point()):
            return None
        # Data ask for no gradient; at this layer they have one all the same.
        source = given if given.requires_grad else given.detach().requires_grad_()
        own = source.view_as(source)
        own.register_hook(keep)  # type: ignore[no-untyped-call]
        # Attention is given one tensor as query, key and value.
        replaced = tuple(own if x is given else x for x in inputs)
        return replaced, {key: own if x is given else x for key, x in named.items()}

    return layer.register_forward_pre_hook(before_forward, with_kwargs=True)


def _keep_output(name: str, layer: nn.Module, watched: Watched) -> RemovableHandle:
    def after_forward(_: nn.Module, __: tuple[Any, ...], output: Any) -> None:
        if name in watched.outputs:
            raise SpecError(f"layer {name!r} is called twice in a pass: watch layers called once")
        # A copy: what follows may change the output in place.
        watched.outputs[name] = _features(name, output).detach().clone()

    return layer.register_forward_hook(after_forward)


def _features(layer: str, output: Any) -> Tensor:
    """Return a layer's output, or the first tensor with features in its tuple or mapping."""
    if isinstance(output, Tensor):
        return output
    several = output.values() if isinstance(output, Mapping) else output
    for value in several if isinstance(several, Iterable) else ():
        if isinstance(value, Tensor) and value.ndim:
            return value
    raise SpecError(
        f"layer {layer!r} returns {type(output).__name__} without a tensor of features in it: watch"
        " a layer that returns a tensor, or a tuple or mapping that holds one"
    )


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
    Raises SpecError for a layer that is not called once or whose input gets no gradient, and for
    a loss that is not a number with a gradient.
    """
    rows: list[Coordinates] = []
    last: B | None = None
    with watch(layers) as watched:
        for step, batch in enumerate(batches):
            change: dict[str, Tensor] = {}
            if last is not None:
                before = watched.outputs
                optimizer.step()
                watched.forget()
                with torch.no_grad():
                    loss(model, last)
                change = {name: watched.outputs[name] - before[name] for name in before}
            # Also what the caller's own passes left behind.
            optimizer.zero_grad(set_to_none=True)
            watched.forget()
            _number(loss(model, batch)).backward()  # type: ignore[no-untyped-call]
            rows += [
                _measure(step, name, layer, watched, change.get(name))
                for name, layer in layers.items()
            ]
            last = batch
    return rows


def _number(loss: Tensor) -> Tensor:
    if isinstance(loss, Tensor) and loss.numel() == 1 and loss.requires_grad:
        return loss
    raise SpecError(
        f"the loss is a {type(loss).__name__}, not one number with a gradient: of a Hugging Face"
        " model return its output's .loss"
    )


def _measure(
    step: int, name: str, layer: nn.Module, watched: Watched, change: Tensor | None
) -> Coordinates:
    if name not in watched.input_gradients:
        raise SpecError(f"no gradient reaches the input of layer {name!r}: watch other layers")
    output = watched.outputs[name]
    # Features are last; those of a convolution, whose tokens are pixels, stand in front of them.
    num_features = layer.out_channels if isinstance(layer, _ConvNd) else output.shape[-1]
    return Coordinates(
        step=step,
        layer=name,
        mean_abs_activation=float(output.double().abs().mean()),
        delta_y_rms=None if change is None else _rms(change),
        grad_x_rms=output.numel() // num_features * _rms(watched.input_gradients[name]),
    )


def _rms(tensor: Tensor) -> float:
    return float(tensor.double().square().mean().sqrt())
