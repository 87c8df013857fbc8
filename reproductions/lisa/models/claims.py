"""Where the claims of several studies are decided."""

from __future__ import annotations

from harness.declare import CPU, GPU_UP, PAPER, ours

IN_HOUSE = ours(
    "DEV-04",
    profiles=CPU,
    elsewhere="smoke takes too few steps, and the paper's own models are not at hand",
)
"""Runs of small models in place of the paper's."""
BENCHMARKED = ours(
    "DEV-04",
    profiles=PAPER,
    elsewhere="a small model guesses at these benchmarks, and the paper's need their weights",
)
HANDED_IN = ours(
    "DEV-04", profiles=PAPER, elsewhere="the weights of the paper's models have to be handed in"
)
JUDGED = HANDED_IN.at(*CPU, *PAPER, elsewhere="it takes models that were fine-tuned, and a judge")
"""By a real judge's ratings, for which nothing stands in."""
ON_A_GPU = ours(
    "DEV-04", profiles=GPU_UP, elsewhere="such a peak is measured on a GPU", deterministic=True
)
