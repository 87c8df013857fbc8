"""Every method by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from harness.errors import SpecError, nearest
from reproductions.fg2u.method.estimator import Estimator
from reproductions.fg2u.method.forward import Fg2u, Fg2uZo, Fgu
from reproductions.fg2u.method.implicit import HessianFree, Neumann
from reproductions.fg2u.method.reverse import (
    Rgu,
    RguCheckpoint,
    RguMixflow,
    Trgu,
    released_reverse,
)

METHODS: dict[str, Callable[..., Estimator]] = {
    method.name: method
    for method in (
        Rgu, RguCheckpoint, RguMixflow, Fgu, Fg2u, Fg2uZo, Trgu, Neumann, HessianFree
    )
} | {"rgu-released": released_reverse}  # fmt: skip


def hypergradient(method: str, **options: Any) -> Estimator:
    """Return a method by its name, with its options.

        estimate = hypergradient("fg2u", num_directions=32, chunk=8)
        meta = estimate(problem, phi, batch, generator)

    Raises SpecError for an unknown name, or an option that the method does not have or lacks.
    """
    if method not in METHODS:
        raise SpecError(
            f"no method {method!r}: one of {', '.join(METHODS)}{nearest(method, METHODS)}"
        )
    try:
        return METHODS[method](**options)
    except TypeError as error:
        raise SpecError(f"{method}: {str(error).split('() ')[-1]}") from error


def fitted(method: str, **options: Any) -> Estimator:
    """Return a method by its name with those of some options that it has."""
    own = {field.name for field in fields(METHODS[method]) if field.init}  # type: ignore[arg-type]
    return hypergradient(method, **{name: v for name, v in options.items() if name in own})
