"""Fractions of weights kept: one for all layers, or one per layer."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from harness.errors import SpecError

Density = float | Mapping[str, float]
"""Fraction of weights kept: one for all hidden layers, or one per layer, by its name."""


def check_density(density: Density, layers: Collection[str] | None = None) -> None:
    """Raise SpecError unless every density lies in (0, 1], and the layers, if known, are its."""
    values = density if isinstance(density, Mapping) else {"every layer": density}
    for layer, value in values.items():
        if not 0.0 < value <= 1.0:
            raise SpecError(f"density={value} of {layer}: need 0 < density <= 1")
    if layers is None:
        return
    for layer in layers:
        density_of(density, layer)
    if isinstance(density, Mapping) and (others := sorted(density.keys() - set(layers))):
        raise SpecError(f"density names {others[0]!r}, which is none of the sparse layers")


def density_of(density: Density, layer: str) -> float:
    """Return the density of a layer."""
    if not isinstance(density, Mapping):
        return density
    if layer not in density:
        raise SpecError(f"no density for layer {layer!r}: name every sparse layer")
    return density[layer]


def check_kept(num_kept: int, layer: str, density: float) -> None:
    """Raise SpecError for a layer that is left without weights."""
    if not num_kept:
        raise SpecError(f"density={density} of layer {layer!r} keeps none of its weights")
