"""Valley curves: prediction error and cross-entropy along a line through a trained model.

    data = ValleyData(test_images=x, test_labels=y, statistics_images=some_training_images)
    curve = valley_curve(model, direction, [-1, -0.5, 0, 0.5, 1], scale=1.0, norm="ns",
                         bn_stats="recalibrate", data=data)

The model handed in is never changed. Source: section 3.2, appendix A.3.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.asymvalley.method.batch_norm import check_statistics, recalibrate
from reproductions.asymvalley.method.directions import BnStats, Norm, OneDimRule
from reproductions.asymvalley.method.layout import Layout, layout_of
from reproductions.asymvalley.method.scaling import scale_direction


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ValleyData:
    """What every point of a curve is measured on, in a fixed order."""

    test_images: Tensor
    """Shape (N, ...), as the model takes them, on its device."""
    test_labels: Tensor
    """Shape (N,), int64."""
    statistics_images: Tensor | None = None
    """Images from which statistics of batch normalisation are estimated again; a training split
    (DEV-05)."""
    batch_size: int = 250

    def __post_init__(self) -> None:
        if len(self.test_images) != len(self.test_labels) or not len(self.test_labels):
            raise SpecError(
                f"{len(self.test_images)} test images with {len(self.test_labels)} labels: need"
                " as many of both, and at least one"
            )
        if self.batch_size < 1:
            raise SpecError(f"batch_size={self.batch_size}: need at least 1")


@dataclass(frozen=True, slots=True)
class Point:
    """What a model does on the test images."""

    error: float
    """Share of wrong predictions, in [0, 1]; numbers that are not finite count as wrong."""
    ce: float
    """Mean cross-entropy in nats; may be infinite."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ValleyCurve:
    """A curve: one point per lambda."""

    lambdas: tuple[float, ...]
    points: tuple[Point, ...]

    @property
    def errors(self) -> list[float]:
        return [point.error for point in self.points]


def valley_curve(
    model: nn.Module,
    direction: Tensor,
    lambdas: Sequence[float],
    *,
    scale: float,
    norm: Norm,
    bn_stats: BnStats,
    data: ValleyData,
    one_dim_rule: OneDimRule = "abs",
    mask: Tensor | None = None,
) -> ValleyCurve:
    """Return L(theta_f + lambda * scale * direction), the direction scaled by `norm`.

    direction: shape (P,), in the order of `layout_of(model)`. scale: the paper's s. mask: see
    `scale_direction`. At lambda = 0 this is the error of the model itself, with statistics as
    `bn_stats` says.
    Raises SpecError for a direction that `scale_direction` refuses, a scale or place that is not
    finite, or a mode of statistics that does not fit.
    """
    if not all(math.isfinite(number) for number in (scale, *lambdas)):
        raise SpecError(f"scale={scale} and lambdas={[*lambdas]}: need finite numbers")
    walk = Walk(model, data, bn_stats=bn_stats)
    step_P = walk.step(direction, scale=scale, norm=norm, one_dim_rule=one_dim_rule, mask=mask)
    return walk.curve(step_P, lambdas)


class Walk:
    """A private copy of a model that is moved through parameter space.

    Several curves through one model share its walk: the point at lambda = 0 is measured once.
    """

    def __init__(self, model: nn.Module, data: ValleyData, *, bn_stats: BnStats) -> None:
        check_statistics(model, bn_stats)
        if bn_stats == "recalibrate" and data.statistics_images is None:
            raise SpecError("bn_stats='recalibrate' needs statistics_images in the data")
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
        scaled_P = scale_direction(
            direction_P,
            self.weights_P,
            norm=norm,
            layout=self.layout,
            one_dim_rule=one_dim_rule,
            mask_P=mask,
        )
        return scaled_P * scale

    def curve(self, step_P: Tensor, lambdas: Sequence[float]) -> ValleyCurve:
        """Return the points at theta_f + lambda * step."""
        self.layout.check(step_P)
        points = tuple(self._point(step_P, value) for value in lambdas)
        return ValleyCurve(lambdas=tuple(lambdas), points=points)

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
            recalibrate(self._model, images.split(self.data.batch_size))


@torch.inference_mode()
def point_of(model: nn.Module, data: ValleyData) -> Point:
    """Return error and cross-entropy of a model in evaluation mode, as it is."""
    wrong, ce = 0, 0.0
    for images, labels in _batches(data):
        logits_NC = model(images).float()
        right_N = (logits_NC.argmax(dim=1) == labels) & logits_NC.isfinite().all(dim=1)
        wrong += int((~right_N).sum())
        ce += float(F.cross_entropy(logits_NC, labels, reduction="sum"))
    count = len(data.test_labels)
    return Point(wrong / count, ce / count)


def _batches(data: ValleyData) -> Iterator[tuple[Tensor, Tensor]]:
    yield from zip(
        data.test_images.split(data.batch_size),
        data.test_labels.split(data.batch_size),
        strict=True,
    )
