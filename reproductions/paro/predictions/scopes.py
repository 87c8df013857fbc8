"""Where what is said of predictions is decided."""

from __future__ import annotations

from harness.declare import CHECK, CPU, SMOKE_AND_CPU, by_theory, ours

ELSEWHERE = "the formulas are at the paper's scale in every profile: `cpu` says it once"
EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere=ELSEWHERE)
FORMULA = by_theory(profiles=CPU, elsewhere=ELSEWHERE, deterministic=True)
"""What the paper says of its results or its guideline, and its formulas may deny."""
NEAR = ours("DEV-22", profiles=CPU, elsewhere=ELSEWHERE, deterministic=True).asked_by_us()
SET = CHECK.at(*CPU, elsewhere=ELSEWHERE)
"""What the paper says of speeds, and no model, trainable share, number of micro-batches or cluster
can deny: a ring waits for its slowest hop, so that Z >= X + Y. A test asks random ones."""
