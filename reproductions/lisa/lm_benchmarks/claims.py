"""What the claims on Tables 2 and 5 share."""

from __future__ import annotations

from harness.declare import CHECK, PAPER, SMOKE_AND_CPU, Criterion, Scope, equal, ours
from reproductions.lisa.lm_benchmarks.quantities import largest_disagreement

ON_THE_PAPERS_MODELS = ours(
    "DEV-04",
    profiles=PAPER,
    elsewhere="a small model guesses at these benchmarks, and the paper's need their weights",
)
SCORER_AGREES: tuple[str, Scope, Criterion, str] = (
    "scorer_agrees",
    CHECK.at(
        *SMOKE_AND_CPU,
        elsewhere="in bfloat16 choices often tie, and the order of the batches decides",
    ),
    equal(largest_disagreement, 0, "accuracy").measuring("largest difference"),
    "lm-eval and our own scorer give every model the same accuracy.",
)
