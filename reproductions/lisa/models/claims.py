"""What claims of several studies share: their scope."""

from __future__ import annotations

from harness.declare import CPU, ours

IN_HOUSE = ours(
    "DEV-04",
    profiles=CPU,
    elsewhere="smoke takes too few steps, and the paper's own models are not at hand",
)
"""Runs of small models in place of the paper's."""
