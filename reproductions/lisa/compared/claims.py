"""Where the claims on SmolLM2 are decided, and the positive controls that they need."""

from __future__ import annotations

from functools import partial

from harness.declare import CPU, at_least, ours
from reproductions.lisa.compared import quantities as q
from reproductions.lisa.compared.experiment import BENCHMARKS

LEAST_FALL = 0.2
"""Nats by which full training must lower the held-out loss: under half of what pilots see."""
LEAST_ABOVE = 0.05
"""By how much the untuned model must be above guessing."""
SPREAD = "Dots: runs, one per seed; lines: their mean."
HERE = ours("DEV-19", profiles=CPU, elsewhere="smoke has a tiny model, and the paper's are larger")
TRAINED = HERE.controlled(
    f"full training lowers the held-out loss by {LEAST_FALL:g} nats",
    at_least(partial(q.fall, method="full"), LEAST_FALL, "nats"),
)
"""Of losses after fine-tuning."""
ABLE = HERE.controlled(
    f"the untuned model is {100 * LEAST_ABOVE:g} points above guessing",
    at_least(
        partial(q.above_guessing, benchmarks=tuple(BENCHMARKS)), LEAST_ABOVE, "accuracy"
    ).naming(*BENCHMARKS),
)
"""Of accuracies."""
