"""Rows of every group, and the distances that stand in them."""

from __future__ import annotations

from torch import Tensor

from harness.declare import Row
from reproductions.fg2u.identities.problems import flat
from reproductions.fg2u.method.trees import Tree

DIGITS = 12
"""Decimals of a row: what is smaller is rounding, and another one on every machine."""


def row(
    check: str,
    setting: str,
    x: float = 0.0,
    *,
    difference: float | Tensor | None = None,
    ratio: float | Tensor | None = None,
    cosine: float | None = None,
    norm_ratio: float | None = None,
) -> Row:
    """Return a row; what does not belong to its check is left out."""
    values = {
        "difference": difference, "ratio": ratio, "cosine": cosine, "norm_ratio": norm_ratio
    }  # fmt: skip
    shown = {k: None if v is None else round(float(v), DIGITS) for k, v in values.items()}
    return {"check": check, "setting": setting, "x": float(x), **shown}


def relative(found: Tree, exact: Tree) -> float:
    """Return |found - exact| / |exact|, over all entries."""
    right = flat(exact)
    return float((flat(found) - right).norm() / right.norm())


def cosine(found: Tree, exact: Tree) -> float:
    """Return the cosine between two trees of one shape."""
    left, right = flat(found), flat(exact)
    return float(left @ right / (left.norm() * right.norm()))
