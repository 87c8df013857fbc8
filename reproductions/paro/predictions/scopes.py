"""Where what is said of predictions is decided."""

from __future__ import annotations

from harness.declare import CHECK, CPU, SMOKE_AND_CPU, by_theory, ours

NO_DRAW = "computed once from the paper's inputs: nothing is drawn"
ELSEWHERE = "the formulas are at the paper's scale in every profile: `cpu` says it once"
COMM_ALONE = "by formula, communication alone"
EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere=ELSEWHERE)
FORMULA = by_theory(profiles=CPU, elsewhere=ELSEWHERE, deterministic=True).without_null(NO_DRAW)
"""What the paper says of its results or its guideline, and its formulas may deny."""
SPEED = FORMULA.noting(COMM_ALONE)
"""The same of measured speeds, here of communication alone."""
NEAR = (
    ours("DEV-22", profiles=CPU, elsewhere=ELSEWHERE, deterministic=True)
    .without_null(NO_DRAW)
    .asked_by_us()
)
SET = SPEED.constructed(
    "with one ring, and a link per GPU, the formulas give no other order on any cluster"
)
"""The same, which no model, trainable share, number of micro-batches or cluster can deny: a ring
waits for its slowest hop, so that Z >= X + Y. A test asks random ones."""
LEFT_OVER = FORMULA.constructed("of the strategies that fit IIG is the fastest on any cluster")
CHOSEN_BY_IT = "of two readings of Tables 4 to 7 the one that gives it was kept (DEV-21)"
