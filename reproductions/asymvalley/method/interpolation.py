"""The line through two solutions, and what their parameters share (sections 4.2.2 and 6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from reproductions.asymvalley.method.curve import (
    Progress,
    ValleyCurve,
    Walk,
    checked_places,
    curve_of,
)
from reproductions.asymvalley.method.data import ValleyData
from reproductions.asymvalley.method.directions import BnStats, Group
from reproductions.asymvalley.method.layout import Layout, same_sign_ratio


def interpolation_curve(
    model: nn.Module,
    first: Mapping[str, Tensor],
    second: Mapping[str, Tensor],
    places: Iterable[float],
    *,
    bn_stats: BnStats,
    data: ValleyData,
    progress: Progress | None = None,
) -> ValleyCurve:
    """Return the curve of (1 - l) * theta_1 + l * theta_2.

    model: any model of the architecture, not changed; first, second: parameters by name.
    With eps = theta_2 - theta_1 it is a valley around theta_1 (at 0) and around theta_2 (at 1).
    progress: as in `valley_curve`.
    bn_stats: "frozen" measures both solutions with the model's statistics, not with their own.
    Raises SpecError for parameters of another architecture, or places that are none.
    """
    along = checked_places(places)
    walk = Walk(model, data, bn_stats=bn_stats)
    first_P, second_P = walk.layout.flatten(first), walk.layout.flatten(second)
    return curve_of(along, lambda place: walk.at(between(first_P, second_P, place)), progress)


def between(first_P: Tensor, second_P: Tensor, place: float) -> Tensor:
    """Return (1 - l) * theta_1 + l * theta_2, either end to the bit."""
    return (1.0 - place) * first_P + place * second_P


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupStatistics:
    """A group of parameters of one of two solutions (Figure 8)."""

    mean: float
    std: float
    norm: float
    consistency: float
    """Share of its coordinates whose sign is that of theta_2 - theta_1."""


def group_statistics(
    weights_P: Tensor, towards_P: Tensor, layout: Layout, group: Group
) -> GroupStatistics:
    """Return what Figure 8 shows of a group of one solution.

    towards_P: theta_2 - theta_1, shape (P,).
    Raises SpecError where the model has no such group.
    """
    mask_P = layout.mask(group)
    values = weights_P[mask_P].double()
    return GroupStatistics(
        mean=float(values.mean()),
        std=float(values.std(unbiased=False)),
        norm=float(values.norm()),
        consistency=same_sign_ratio(values, towards_P[mask_P].double()),
    )
