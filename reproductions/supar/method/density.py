"""Fractions of weights kept: one for all layers, or one per layer."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from harness.errors import SpecError

Density = float | Mapping[str, float]
"""Fraction of weights kept: one for all hidden layers, or one per layer, by its name."""


def check_density(density: Density, layers: Collection[str] = ()) -> None:
    """Raise SpecError unless every density lies in (0, 1], and every layer has one."""
    values = density if isinstance(density, Mapping) else {"every layer": density}
    for layer, value in values.items():
        if not 0.0 < value <= 1.0:
            raise SpecError(f"density={value} of {layer}: need 0 < density <= 1")
    for layer in layers:
        density_of(density, layer)


def density_of(density: Density, layer: str) -> float:
    """Return the density of a layer."""
    if not isinstance(density, Mapping):
        return density
    if layer not in density:
        raise SpecError(f"no density for layer {layer!r}: name every sparse layer")
    return density[layer]
