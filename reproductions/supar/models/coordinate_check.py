"""The coordinate check of your own model: does every hidden layer keep its size?

    report = coordinate_check(make, widths=(128, 256, 512), densities=(1, 1 / 4, 1 / 8))
    report.passed, report.verdict      # every slope as expected: pass, fail or undecided
    report.slopes                      # one row per layer, size and step: slope, interval, verdict
    report.table                       # the sizes themselves
    report.figure().savefig("check.svg")

`make(width=..., density=..., seed=...)` returns a `CheckedModel`. Three sizes are measured in each
layer, before training and after each update: its output Y, the change of Y by that update, and
the gradient at its input. The feature learning desiderata (arXiv 2405.15743, section 2) ask that
none of them vanishes or explodes as width grows or weights are removed.

The check is necessary, not sufficient: it does not see weight decay or the schedule.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pandas as pd
from torch import Tensor, nn, optim

from harness.declare import InvalidQuantity
from harness.declare.statistics import MIN_SEEDS, Interval, t_interval
from harness.errors import SpecError
from reproductions.supar.method.activations import Coordinates, measure_steps
from reproductions.supar.models.slopes import FLAT, log_slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Size = Literal["mean_abs_activation", "delta_y_rms", "grad_x_rms"]
Along = Literal["width", "density"]
Outcome = Literal["pass", "fail", "undecided"]
SIZES: tuple[Size, ...] = ("mean_abs_activation", "delta_y_rms", "grad_x_rms")

EXPECTED: Mapping[tuple[Size, Along], float] = {
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

A layer of which one side alone grows with width follows other laws, so it is not checked unless
named; check it in a call of its own, with its own slopes against width. Under muP a readout whose
input is divided by m_d has -0.5 for Y before training (it sums random signs), 0 for its change and
for the gradient; a first layer, on data, has 0, 0, and -0.5 for the gradient before training.
"""


class Loss(Protocol):
    def __call__(self, model: nn.Module, batch: Any, /) -> Tensor:
        """Return the mean loss over a batch's samples (or tokens), ready for `backward`."""
        ...


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


@dataclass(frozen=True, kw_only=True, slots=True)
class CoordinateReport:
    """What a coordinate check found."""

    table: pd.DataFrame
    """One row per width, density, seed, step and layer: mean_abs_activation, delta_y_rms (empty at
    step 0) and grad_x_rms, as `activations.Coordinates` says."""
    slopes: pd.DataFrame
    """One row per layer, size, step and line of fit: `along` width or density, the other one held
    `at` its value; slope (mean over seeds) and its 95 % t interval from low to high, num_seeds,
    expected, tolerance, verdict, and the reason of one that is undecided or has no slope."""

    @property
    def verdict(self) -> Outcome:
        """`fail` if any slope fails, else `undecided` if any is, else `pass`."""
        return _worst(self.slopes["verdict"])

    @property
    def passed(self) -> bool:
        return self.verdict == "pass"

    @property
    def by_layer(self) -> pd.DataFrame:
        """The worst verdict of each layer (rows) and size (columns), over steps and lines."""
        return self.slopes.pivot_table(
            index="layer", columns="size", values="verdict", aggfunc=_worst, sort=False
        )[list(SIZES)]

    def figure(self, *, step: int = 1) -> Figure:
        """Draw the sizes after `step` updates against width and density, one line per layer.

        Each against the one at the largest value of the other; bars show the standard error over
        seeds. Raises SpecError for a step that was not measured.
        """
        from reproductions.supar.models.size_figures import check_panels

        if step not in set(self.table["step"]):
            raise SpecError(f"step={step}: {self.table['step'].max()} updates were measured")
        return check_panels(self.table, self.slopes[self.slopes["step"] == step], step=step)


def coordinate_check(
    model_factory: ModelFactory,
    widths: Sequence[int],
    densities: Sequence[float],
    *,
    layers: Sequence[str] | Literal["hidden"] = "hidden",
    num_steps: int = 3,
    num_seeds: int = 5,
    tolerance: float = FLAT,
    expected: Mapping[tuple[Size, Along], float] = EXPECTED,
) -> CoordinateReport:
    """Train a model for a few steps at every width, density and seed, and judge its layers.

    layers: names of modules of one tensor input and output; `hidden` stands for every nn.Linear
    both of whose sides grow with the width (with one width alone: every nn.Linear).
    tolerance: how far a slope may lie from the expected one; 0.33 is a factor 2.5 over four
    doublings. A slope passes if its interval over seeds lies inside, fails if it lies outside,
    and is undecided else, or with fewer than 3 seeds.
    Raises SpecError for a grid without two widths or densities, an unknown layer, or a layer
    whose input gets no gradient.
    """
    _check_grid(widths, densities, num_steps=num_steps, num_seeds=num_seeds, tolerance=tolerance)
    if missing := sorted(EXPECTED.keys() - expected.keys()):
        raise SpecError(f"expected lacks {missing[0]}: give a slope for every size and direction")
    if layers == "hidden":
        narrow, wide = (
            _made(model_factory, width, max(densities), seed=0).model
            for width in (min(widths), max(widths))
        )
        layers = hidden_layers(narrow, wide)
    if not layers:
        raise SpecError("no layer to check: name at least one")
    rows = [
        {"width": width, "density": float(density), "seed": seed} | asdict(row)
        for seed, width, density in product(range(num_seeds), sorted(widths), sorted(densities))
        for row in _run(_made(model_factory, width, density, seed=seed), layers, num_steps)
    ]
    table = pd.DataFrame(rows).astype({"delta_y_rms": float})
    slopes = _judge(table, tolerance=tolerance, expected=expected)
    return CoordinateReport(table=table, slopes=slopes)


def hidden_layers(narrow: nn.Module, wide: nn.Module) -> list[str]:
    """Return the names of the nn.Linear modules both of whose sides differ between two widths.

    For equal widths: of all nn.Linear modules. Raises SpecError where there is none.
    """
    small, large = (
        {n: m.weight.shape for n, m in model.named_modules() if isinstance(m, nn.Linear)}
        for model in (narrow, wide)
    )
    if small.keys() != large.keys():
        raise SpecError("the model has other nn.Linear modules at another width: name the layers")
    grown = [name for name in small if all(map(operator.ne, small[name], large[name]))]
    names = list(small) if small == large else grown
    if not names:
        raise SpecError("no nn.Linear grows on both sides with the width: name the layers")
    return names


def _made(factory: ModelFactory, width: int, density: float, *, seed: int) -> CheckedModel:
    checked = factory(width=width, density=density, seed=seed)
    if not isinstance(checked, CheckedModel):
        raise SpecError(f"model_factory returned {type(checked).__name__}: need a CheckedModel")
    return checked


def _run(checked: CheckedModel, layers: Sequence[str], num_steps: int) -> list[Coordinates]:
    """Measure one model; its hooks are gone afterwards, and its gradients."""
    known = dict(checked.model.named_modules())
    if unknown := [layer for layer in layers if layer not in known]:
        raise SpecError(f"layer {unknown[0]!r}: no such module in this model")
    batches = list(islice(checked.batches, num_steps + 1))
    if len(batches) <= num_steps:
        raise SpecError(f"{len(batches)} batches for {num_steps} updates: need one more than those")
    try:
        return measure_steps(
            checked.model,
            checked.optimizer,
            batches,
            {layer: known[layer] for layer in layers},
            loss=checked.loss,
        )
    finally:
        checked.optimizer.zero_grad(set_to_none=True)


def _judge(
    table: pd.DataFrame, *, tolerance: float, expected: Mapping[tuple[Size, Along], float]
) -> pd.DataFrame:
    """Fit and judge every layer, size and step, along every line of the grid."""
    rows: list[dict[str, Any]] = []
    for along, at, line in chain(_lines(table, "width"), _lines(table, "density")):
        for (layer, step), part in line.groupby(["layer", "step"], sort=False):
            for size in SIZES:
                if size == "delta_y_rms" and step == 0:
                    continue
                slope = expected[size, along]
                where = {"layer": layer, "size": size, "step": step, "along": along, "at": at}
                judged = _judge_line(part, along, size, expected=slope, tolerance=tolerance)
                rows.append({**where, "expected": slope, "tolerance": tolerance, **judged})
    return pd.DataFrame(rows)


def _lines(table: pd.DataFrame, along: Along) -> Iterator[tuple[Along, float, pd.DataFrame]]:
    """Yield the rows along one direction, for each value of the other."""
    if table[along].nunique() < 2:
        return
    for at, line in table.groupby("density" if along == "width" else "width", sort=True):
        yield along, float(at), line  # type: ignore[arg-type]


def _judge_line(
    rows: pd.DataFrame, along: Along, size: Size, *, expected: float, tolerance: float
) -> dict[str, Any]:
    """Return slope, interval, verdict and reason of one layer, size and step on one line."""
    seeds = rows.groupby("seed", sort=True)
    if not rows[size].map(math.isfinite).all():
        return _no_slope("fail", "a size is not finite: the model diverged", len(seeds))
    try:
        slopes = [log_slope(dict(zip(part[along], part[size], strict=True))) for _, part in seeds]
    except InvalidQuantity as error:
        return _no_slope("undecided", str(error), len(seeds))
    interval = t_interval(slopes)
    verdict, reason = _decide(interval, expected - tolerance, expected + tolerance)
    numbers = {"slope": interval.mean, "low": interval.low, "high": interval.high}
    return {**numbers, "num_seeds": len(slopes), "verdict": verdict, "reason": reason}


def _decide(interval: Interval, low: float, high: float) -> tuple[Outcome, str]:
    """Apply the harness's statistics rule to a slope."""
    if interval.num_seeds < MIN_SEEDS:
        return "undecided", f"{interval.num_seeds} seed(s), need at least {MIN_SEEDS}"
    if low <= interval.low and interval.high <= high:
        return "pass", ""
    if interval.high < low or high < interval.low:
        return "fail", ""
    return "undecided", "the interval over seeds overlaps the tolerance: use more seeds"


def _no_slope(verdict: Outcome, reason: str, num_seeds: int) -> dict[str, Any]:
    numbers = dict.fromkeys(("slope", "low", "high"), math.nan)
    return {**numbers, "num_seeds": num_seeds, "verdict": verdict, "reason": reason}


def _worst(verdicts: Iterable[str]) -> Outcome:
    found = set(verdicts)
    return "fail" if "fail" in found else "undecided" if "undecided" in found else "pass"


def _check_grid(
    widths: Sequence[int],
    densities: Sequence[float],
    *,
    num_steps: int,
    num_seeds: int,
    tolerance: float,
) -> None:
    for name, values in (("widths", widths), ("densities", densities)):
        if not values or len(set(values)) < len(values) or min(values) <= 0:
            raise SpecError(f"{name}={list(values)}: need positive numbers, each once")
    if len(widths) == len(densities) == 1:
        raise SpecError("one width and one density: need two of either to see a slope")
    if max(densities) > 1:
        raise SpecError(f"densities={list(densities)}: need 0 < density <= 1")
    if num_steps < 1 or num_seeds < 1 or not tolerance > 0.0:
        raise SpecError(
            f"num_steps={num_steps}, num_seeds={num_seeds}, tolerance={tolerance}: need at least"
            " one step and seed, and a positive tolerance"
        )
