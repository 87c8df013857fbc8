"""How a direction is scaled before a walk along it: raw, filter-norm-scaled, norm-scaled.

Source: section 3.2 and Figure 2; filter normalisation is that of Li et al. (arXiv 1712.09913).
"""

from __future__ import annotations

import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.asymvalley.method.directions import NORMS, Norm, OneDimRule
from reproductions.asymvalley.method.layout import Layout

ONE_DIM_RULES: tuple[OneDimRule, ...] = ("abs", "skip", "copy")


def scale_direction(
    direction_P: Tensor,
    weights_P: Tensor,
    *,
    norm: Norm,
    layout: Layout,
    one_dim_rule: OneDimRule = "abs",
    mask_P: Tensor | None = None,
) -> Tensor:
    """Return a direction scaled to the weights, shape (P,).

    raw: as it is.
    ns: times one factor, |theta_f| / |eps|, which keeps its direction. mask_P: the coordinates
    over which |theta_f| is taken, bool, for noise in a group of parameters (DEV-06); None: all.
    filter_ns: every filter (the weights of one output) of a tensor with two or more axes is given
    the norm of the weights' filter. Outputs are counted by the first axis, but in transposed
    convolutions and transformers' Conv1D by the second. one_dim_rule, for biases and batch
    normalisation: "abs" multiplies by |w|, as adaptive sharpness does (DEV-07); "skip" sets them
    to zero; "copy" takes the weights themselves, as the peers' public tool does, which fabricates
    a sign-consistent direction.
    Raises SpecError for a direction of another shape, one that is zero everywhere, is not finite,
    or leaves the mask.
    """
    _check_direction(direction_P, mask_P, layout)
    layout.check(weights_P)
    match norm:
        case "raw":
            return direction_P.clone()
        case "ns":
            inside_P = weights_P if mask_P is None else weights_P[mask_P]
            return direction_P * (_norm(inside_P) / _norm(direction_P))
        case "filter_ns":
            return _filter_scaled(direction_P, weights_P, layout, one_dim_rule)
        case _:
            raise SpecError(f"norm={norm!r}: need one of {', '.join(NORMS)}")


def _check_direction(direction_P: Tensor, mask_P: Tensor | None, layout: Layout) -> None:
    """Raise SpecError for a direction along which a curve would mean nothing."""
    layout.check(direction_P)
    if not bool(direction_P.any()):
        raise SpecError("the direction is zero everywhere: draw another one")
    if not bool(direction_P.isfinite().all()):
        raise SpecError("the direction has numbers that are not finite: draw another one")
    if mask_P is not None:
        layout.check(mask_P)
        if bool(direction_P[~mask_P].any()):
            raise SpecError("the direction moves parameters outside of the mask: multiply by it")


def _norm(vector: Tensor) -> Tensor:
    # In float64: summed squares of millions of float32 numbers lose digits.
    length: Tensor = vector.double().norm()
    return length.to(vector.dtype)


def _filter_scaled(
    direction_P: Tensor, weights_P: Tensor, layout: Layout, rule: OneDimRule
) -> Tensor:
    scaled = direction_P.clone()
    views, weights = layout.split(scaled), layout.split(weights_P)
    for slot in layout.slots:
        view, weight = views[slot.name], weights[slot.name]
        if view.dim() >= 2:
            filters = slot.filters(view)
            length, target = (
                each.flatten(2).norm(dim=2) for each in (filters, slot.filters(weight))
            )
            factor = torch.where(length > 0, target / length, 0.0)
            filters *= factor.view(*factor.shape, *[1] * (filters.dim() - 2))
        elif rule == "abs":
            view *= weight.abs()
        elif rule == "skip":
            view.zero_()
        elif rule == "copy":
            view.copy_(weight)
        else:
            raise SpecError(f"one_dim_rule={rule!r}: need one of {', '.join(ONE_DIM_RULES)}")
    return scaled
