"""Valley curves: prediction error and cross-entropy along a line through a trained model.

    data = ValleyData(test_images=x, test_labels=y, statistics_images=some_training_images)
    curve = valley_curve(model, direction, [-1, -0.5, 0, 0.5, 1], scale=1.0, norm="ns",
                         bn_stats="recalibrate", data=data)

The model handed in is never changed. Source: section 3.2, appendix A.3.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.parallel import DataParallel, DistributedDataParallel

from harness.errors import EnvError, SpecError
from reproductions.asymvalley.method.asymmetry import Sides, sides
from reproductions.asymvalley.method.batch_norm import check_statistics, recalibrate
from reproductions.asymvalley.method.data import ValleyData, logits, outputs
from reproductions.asymvalley.method.directions import (
    VALUE_LABELS,
    BnStats,
    Norm,
    OneDimRule,
    Value,
)
from reproductions.asymvalley.method.layout import Layout, layout_of
from reproductions.asymvalley.method.scaling import scale_direction
from reproductions.nets.borrowed import run_without, tensors_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Progress = Callable[[int, int], None]
"""Called with the number of points that are done, and of all."""


@dataclass(frozen=True, slots=True)
class Point:
    """What a model does on the test images."""

    error: float
    """Share of wrong predictions, in [0, 1]; numbers that are not finite count as wrong."""
    ce: float
    """Mean cross-entropy in nats; infinite or NaN where a logit is not finite."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ValleyCurve:
    """A curve: one point per lambda."""

    lambdas: tuple[float, ...]
    points: tuple[Point, ...]

    @property
    def errors(self) -> list[float]:
        return self.values("error")

    def values(self, value: Value) -> list[float]:
        """Return the error or the cross-entropy of every point."""
        if value not in VALUE_LABELS:
            raise SpecError(f"value={value!r}: need one of {', '.join(VALUE_LABELS)}")
        return [getattr(point, value) for point in self.points]

    def sides(self, value: Value = "error") -> Sides:
        """Return the means of both sides of lambda = 0, and so the asymmetry.

        Raises SpecError where a side has no point.
        """
        return sides(self.lambdas, self.values(value))

    def to_frame(self) -> pd.DataFrame:
        """Return a row per lambda: lambda, error, ce. Raises EnvError without pandas."""
        columns = {"lambda": list(self.lambdas), "error": self.errors, "ce": self.values("ce")}
        frame: pd.DataFrame = needed("pandas", "a table of a curve").DataFrame(columns)
        return frame

    def plot(self, ax: Axes | None = None, *, value: Value = "error", label: str = "") -> Axes:
        """Draw the curve and return its axes, new ones unless they are handed in.

        label: of its line, in a legend. Raises EnvError without matplotlib.
        """
        numbers = self.values(value)
        if ax is None:
            ax = needed("matplotlib.pyplot", "a picture of a curve").subplots()[1]
        ax.plot(self.lambdas, numbers, marker=".", label=label)
        ax.set_xlabel(r"$\lambda$")
        ax.set_ylabel(VALUE_LABELS[value])
        if label:
            ax.legend()
        return ax


def valley_curve(
    model: nn.Module,
    direction: Tensor,
    lambdas: Iterable[float],
    *,
    scale: float,
    norm: Norm,
    bn_stats: BnStats,
    data: ValleyData,
    one_dim_rule: OneDimRule = "abs",
    mask: Tensor | None = None,
    progress: Progress | None = None,
) -> ValleyCurve:
    """Return L(theta_f + lambda * scale * direction), the direction scaled by `norm`.

    direction: shape (P,), in the order of `layout_of(model)`. scale: the paper's s. mask: see
    `scale_direction`. progress: called after each point with the number of points done and of all.
    At lambda = 0 this is the error of the model itself, with statistics as `bn_stats` says.
    Raises SpecError for a direction that `scale_direction` refuses, a scale or place that is not
    finite, no place at all, or a mode of statistics that does not fit.
    """
    places = checked_places(lambdas)
    walk = Walk(model, data, bn_stats=bn_stats)
    step_P = walk.step(direction, scale=scale, norm=norm, one_dim_rule=one_dim_rule, mask=mask)
    return walk.curve(step_P, places, progress=progress)


def checked_places(places: Iterable[float]) -> tuple[float, ...]:
    """Return the places of a curve. Raises SpecError for none, or one that is not finite."""
    found = tuple(float(place) for place in places)
    if not found or not all(math.isfinite(place) for place in found):
        raise SpecError(f"a curve along {list(found)}: need at least one place, finite numbers all")
    return found


def curve_of(
    places: tuple[float, ...], point_at: Callable[[float], Point], progress: Progress | None
) -> ValleyCurve:
    """Return the curve of a point at every place; tell `progress` after each."""
    points = []
    for done, place in enumerate(places, start=1):
        points.append(point_at(place))
        if progress is not None:
            progress(done, len(places))
    return ValleyCurve(lambdas=places, points=tuple(points))


class Walk:
    """A private copy of a model that is moved through parameter space.

    Several curves through one model share its walk: the point at lambda = 0 is measured once.
    """

    def __init__(self, model: nn.Module, data: ValleyData, *, bn_stats: BnStats) -> None:
        check_statistics(model, bn_stats)
        if bn_stats == "recalibrate" and data.statistics_images is None:
            raise SpecError("bn_stats='recalibrate' needs statistics_images in the data")
        _refuse_wrapped(model)
        _check_one_kind(model)
        self.layout: Layout = layout_of(model)
        self._model = copy.deepcopy(model).eval().requires_grad_(False)
        self.data = data
        self._bn_stats = bn_stats
        parameters = dict(self._model.named_parameters())
        self.weights_P: Tensor = self.layout.flatten(parameters)
        """theta_f, shape (P,); not to be written to."""
        self._flat_P = self.weights_P.clone()
        for name, view in self.layout.split(self._flat_P).items():
            parameters[name].data = view
        self._at_zero: Point | None = None
        run_without(tensors_of(model), lambda: outputs(self._model, data.test_images[:1]))

    def step(
        self,
        direction_P: Tensor,
        *,
        scale: float,
        norm: Norm,
        one_dim_rule: OneDimRule = "abs",
        mask: Tensor | None = None,
    ) -> Tensor:
        """Return what is added at lambda = 1, shape (P,)."""
        if not math.isfinite(scale):
            raise SpecError(f"scale={scale}: need a finite number")
        scaled_P = scale_direction(
            direction_P,
            self.weights_P,
            norm=norm,
            layout=self.layout,
            one_dim_rule=one_dim_rule,
            mask_P=mask,
        )
        return scaled_P * scale

    def curve(
        self, step_P: Tensor, lambdas: Iterable[float], *, progress: Progress | None = None
    ) -> ValleyCurve:
        """Return the points at theta_f + lambda * step; `progress` as in `valley_curve`."""
        self.layout.check(step_P)
        return curve_of(checked_places(lambdas), partial(self._point, step_P), progress)

    def at(self, vector_P: Tensor) -> Point:
        """Return the point at any parameter vector, shape (P,)."""
        return point_of(self.moved(vector_P), self.data)

    def moved(self, vector_P: Tensor) -> nn.Module:
        """Return the private copy at a parameter vector, its statistics as on a curve.

        It is the same module every time: whoever keeps it sees it move.
        """
        self.layout.check(vector_P)
        self._flat_P.copy_(vector_P)
        self._estimate_statistics()
        return self._model

    def _point(self, step_P: Tensor, value: float) -> Point:
        if value == 0.0:
            if self._at_zero is None:
                self._at_zero = self.at(self.weights_P)
            return self._at_zero
        return self.at(self.weights_P + value * step_P)

    def _estimate_statistics(self) -> None:
        images = self.data.statistics_images
        if self._bn_stats == "recalibrate" and images is not None:
            recalibrate(self._model, torch.split(images, self.data.batch_size))


def _refuse_wrapped(model: nn.Module) -> None:
    """Raise SpecError for a model that answers to other ranks, whose walks would be mixed up.

    DDP overwrites the statistics of all ranks by rank 0's in every pass.
    """
    for name, module in model.named_modules():
        is_split = any(hasattr(p, "placements") for p in module.parameters(recurse=False))
        if is_split or isinstance(module, (DataParallel, DistributedDataParallel)):
            raise SpecError(
                f"{name or 'the model'} ({type(module).__name__}) is one of several ranks' or"
                " devices': hand in a whole model that is this process's alone, such as the module"
                " inside it"
            )


def _check_one_kind(model: nn.Module) -> None:
    """Raise SpecError unless all parameters are of one dtype on one device."""
    kinds = sorted({f"{p.dtype} on {p.device}" for p in model.parameters()})
    if len(kinds) > 1:
        raise SpecError(f"parameters are {' and '.join(kinds)}: bring them to one kind for a walk")


@torch.inference_mode()
def point_of(model: nn.Module, data: ValleyData) -> Point:
    """Return error and cross-entropy of a model in evaluation mode, as it is.

    Raises SpecError for a model that returns no logits, or fewer than there are classes.
    """
    wrong, ce = 0, 0.0
    size = data.batch_size
    batches = zip(
        torch.split(data.test_images, size), torch.split(data.test_labels, size), strict=True
    )
    for images, labels in batches:
        logits_NC = logits(model, images, num_classes=data.num_classes)
        labels_N = labels.to(logits_NC.device)
        right_N = (logits_NC.argmax(dim=1) == labels_N) & logits_NC.isfinite().all(dim=1)
        wrong += int((~right_N).sum())
        ce += float(F.cross_entropy(logits_NC, labels_N, reduction="sum"))
    count = len(data.test_labels)
    return Point(wrong / count, ce / count)


def needed(module: str, purpose: str) -> Any:
    """Return a module that not all of the library needs. Raises EnvError where it is absent."""
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise EnvError(f"{purpose} needs {name}, which is absent: pip install {name}") from error
