"""The coordinate check of your own model: does every hidden layer keep its size?

    report = coordinate_check(make, widths=(128, 256, 512), densities=(1, 1 / 4, 1 / 8))
    report.verdict                     # every slope as expected: pass, fail or undecided
    print(report)                      # one line per layer
    report.plot().savefig("check.svg")
    report.to_frame()                  # one row per slope; "sizes": what was measured

`make(width=..., density=..., seed=...)` returns a `CheckedModel`. Three sizes are measured in each
layer, before training and after each update: its output Y, the change of Y by that update, and
the gradient at its input. The feature learning desiderata (arXiv 2405.15743, section 2) ask that
none of them vanishes or explodes as width grows or weights are removed. How the verdict follows
from the sizes, whatever their number: `method/slopes.py`.

The laws are those of many weights per neuron (width times density). Where the smallest net has
few, a sound model drifts from them as it trains and may be undecided: ask wider ones.
The check is necessary, not sufficient: it does not see weight decay or the schedule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Literal, Protocol, get_args

import numpy as np
from torch import Tensor, nn, optim
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear
from torch.nn.utils.parametrize import ParametrizationList

from harness.errors import SpecError
from reproductions.supar.method.activations import Coordinates, measure_steps
from reproductions.supar.method.coordinate_report import CoordinateReport
from reproductions.supar.method.optimizers import check_trained
from reproductions.supar.method.slopes import (
    FLAT,
    SIZES,
    Expected,
    Grid,
    Phase,
    Sizes,
    judge,
)

EXPECTED: Expected = {
    ("mean_abs_activation", "width"): 0.0,
    ("delta_y_rms", "width"): 0.0,
    ("grad_x_rms", "width"): -1.0,
    ("mean_abs_activation", "density"): 0.0,
    ("delta_y_rms", "density"): 0.0,
    ("grad_x_rms", "density"): 0.0,
}
"""Log-log slopes of a hidden layer under muP and SmuPar.

The gradient falls with width because the logits do: muP divides them by m_d, so each of m_d times
as many features gets 1 / m_d of the gradient, and every hidden layer hands that down as it is.
Adam does not notice. Where the readout is scaled otherwise, say so: -0.5 for logits without a
multiplier whose matrix starts at a standard deviation of 1 / sqrt(width).

A layer of which one side alone grows with width follows other laws, so it is not checked along the
width unless named; check it in a call of its own, with its own slopes. Under muP a readout whose
input is divided by m_d has -0.5 for Y before training (it sums random signs; the key is
("mean_abs_activation", "width", "start")), 0 for its change and for the gradient; a first layer,
on data, has 0, 0, and -0.5 for the gradient before training. Along the density all slopes are 0.
"""


_NO_LAYERS = (
    nn.Embedding,
    nn.EmbeddingBag,
    _ConvNd,
    NonDynamicallyQuantizableLinear,
    ParametrizationList,
)


Loss = Callable[[nn.Module, Any], Tensor]
"""From a model and a batch to the mean loss over its samples (or tokens), for `backward`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedModel:
    """A fresh model with what it takes to train it for a few steps."""

    model: nn.Module
    """Without dropout: two passes over one batch must differ by the update alone."""
    optimizer: optim.Optimizer
    """At constant learning rates."""
    loss: Loss
    batches: Iterable[Any]
    """One more than the updates, on the model's device; at one seed the same for every width and
    density, or their sizes differ by the data."""


class ModelFactory(Protocol):
    def __call__(self, *, width: int, density: float, seed: int) -> CheckedModel: ...


def coordinate_check(
    model_factory: ModelFactory,
    widths: Sequence[int],
    densities: Sequence[float],
    *,
    layers: Sequence[str] | Literal["hidden"] = "hidden",
    num_steps: int = 3,
    num_seeds: int = 5,
    tolerance: float = FLAT,
    expected: Expected = EXPECTED,
) -> CoordinateReport:
    """Train a model for a few steps at every width, density and seed, and judge its layers.

    layers: names of modules of one tensor input and output (or a first one among several);
    `hidden` stands for every layer with a matrix both of whose sides grow with the width, with
    one width alone for every layer with a matrix.
    tolerance: how far a slope may lie from the expected one; 0.33 is a factor 2.5 over four
    doublings.
    expected: slopes by size and direction, and by phase where one differs ("start", "trained").
    Raises SpecError for a grid without two widths or densities, an unknown layer, a layer that is
    not called once per pass, that the optimizer does not train, or whose input is of whole numbers,
    and a model with dropout.
    """
    _check_grid(widths, densities, num_steps=num_steps, num_seeds=num_seeds, tolerance=tolerance)
    _check_expected(expected)
    if layers == "hidden":
        narrow, wide = (
            _made(model_factory, width, max(densities), seed=0).model
            for width in (min(widths), max(widths))
        )
        layers = hidden_layers(narrow, wide)
    if not layers:
        raise SpecError("no layer to check: name at least one")
    grid = Grid(
        layers=tuple(layers), num_seeds=num_seeds, num_steps=num_steps,
        widths=tuple(sorted(widths)), densities=tuple(sorted(map(float, densities))),
    )  # fmt: skip
    sizes = _measure(model_factory, grid)
    slopes = judge(grid, sizes, tolerance=tolerance, expected=expected)
    return CoordinateReport(grid=grid, sizes=sizes, slopes=slopes)


def _measure(factory: ModelFactory, grid: Grid) -> Sizes:
    """Train a model at every place of a grid, and return what was measured."""
    sizes = {size: np.full(grid.shape, math.nan) for size in SIZES}
    for seed, (w, width), (d, density) in product(
        range(grid.num_seeds), enumerate(grid.widths), enumerate(grid.densities)
    ):
        for row in _run(_made(factory, width, density, seed=seed), grid.layers, grid.num_steps):
            at = (grid.layers.index(row.layer), seed, w, d, row.step)
            for size, values in sizes.items():
                found = getattr(row, size)
                values[at] = math.nan if found is None else found
    return sizes


def hidden_layers(narrow: nn.Module, wide: nn.Module) -> list[str]:
    """Return the names of the layers with a matrix both of whose sides differ between two widths.

    For equal widths: of all layers with a matrix. Raises SpecError where there is none.
    """
    small, large = _matrices(narrow), _matrices(wide)
    if small.keys() != large.keys():
        raise SpecError("the model has other layers at another width: name the layers to check")
    names = [name for name in small if small == large or _both_grow(small[name], large[name])]
    if not names:
        raise SpecError("no layer grows on both sides with the width: name the layers to check")
    return names


def _matrices(model: nn.Module) -> dict[str, list[tuple[int, ...]]]:
    """Return the shapes of the matrices of each layer that has any, by its name.

    A layer is what keeps its parameters itself: nn.Linear, transformers' Conv1D, fused experts (a
    stack of matrices), and nn.MultiheadAttention, which never calls the layer inside it. Tables
    of embeddings are looked up, and convolutions keep their features in another place.
    """
    found = {}
    for name, module in model.named_modules():
        if isinstance(module, _NO_LAYERS):
            continue
        shapes = [tuple(p.shape) for p in module.parameters(recurse=False) if p.ndim >= 2]
        if isinstance(module, nn.Linear):
            # A parametrization keeps the weight elsewhere, and what quantizes it another shape.
            shapes = [(module.out_features, module.in_features)]
        elif not isinstance(module, nn.MultiheadAttention) and any(
            True for child in module.children() for _ in child.parameters()
        ):
            continue
        if shapes:
            found[name] = shapes
    return found


def _both_grow(small: Sequence[tuple[int, ...]], large: Sequence[tuple[int, ...]]) -> bool:
    """Say whether a stored tensor differs along two axes, whichever of them are the sides."""
    pairs = zip(small, large, strict=True)
    return any(sum(a != b for a, b in zip(*pair, strict=False)) > 1 for pair in pairs)


def _made(factory: ModelFactory, width: int, density: float, *, seed: int) -> CheckedModel:
    checked = factory(width=width, density=density, seed=seed)
    if not isinstance(checked, CheckedModel):
        raise SpecError(f"model_factory returned {type(checked).__name__}: need a CheckedModel")
    for name, module in checked.model.named_modules():
        if isinstance(module, _DropoutNd) and module.training and module.p > 0.0:
            raise SpecError(f"{name!r} drops out at {module.p}: build the model without dropout")
    return checked


def _run(checked: CheckedModel, layers: Sequence[str], num_steps: int) -> list[Coordinates]:
    """Measure one model; its hooks are gone afterwards, and its gradients."""
    known = dict(checked.model.named_modules())
    if unknown := [layer for layer in layers if layer not in known]:
        raise SpecError(f"layer {unknown[0]!r}: no such module in this model")
    watched = {layer: known[layer] for layer in layers}
    check_trained(checked.optimizer, watched)
    batches = list(islice(checked.batches, num_steps + 1))
    if len(batches) <= num_steps:
        raise SpecError(f"{len(batches)} batches for {num_steps} updates: need one more than those")
    try:
        return measure_steps(
            checked.model,
            checked.optimizer,
            batches,
            watched,
            loss=checked.loss,
        )
    finally:
        checked.optimizer.zero_grad(set_to_none=True)


def _check_expected(expected: Expected) -> None:
    if missing := sorted(EXPECTED.keys() - expected.keys()):
        raise SpecError(f"expected lacks {missing[0]}: give a slope for every size and direction")
    known = {*EXPECTED, *((*key, phase) for key in EXPECTED for phase in get_args(Phase))}
    if unknown := sorted(expected.keys() - known):
        raise SpecError(f"expected has {unknown[0]}: need size, width or density, start or trained")


def _check_grid(
    widths: Sequence[int],
    densities: Sequence[float],
    *,
    num_steps: int,
    num_seeds: int,
    tolerance: float,
) -> None:
    for name, values in (("widths", widths), ("densities", densities)):
        if not values or len(set(values)) < len(values) or not all(v > 0 for v in values):
            raise SpecError(f"{name}={list(values)}: need positive numbers, each once")
    if len(widths) == len(densities) == 1:
        raise SpecError("one width and one density: need two of either to see a slope")
    if not all(density <= 1 for density in densities):
        raise SpecError(f"densities={list(densities)}: need 0 < density <= 1")
    if num_steps < 1 or num_seeds < 1 or not tolerance > 0.0:
        raise SpecError(
            f"num_steps={num_steps}, num_seeds={num_seeds}, tolerance={tolerance}: need at least"
            " one step and seed, and a positive tolerance"
        )
