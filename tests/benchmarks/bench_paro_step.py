"""Our engine's step beside that of what PyTorch has of the same letters, on four ranks of gloo.

NNN at most 1.15 times DDP's, GGG at most FSDP2's. Steps alternate within the same processes, so
that what else the machine does falls on both; a step is as long as its slowest rank's.
"""

from __future__ import annotations

import os
import statistics

import pytest

from reproductions.paro.models.gloo_ranks import on_ranks
from tests.benchmarks.conftest import GoalFixture
from tests.benchmarks.paro_steps import SEQUENCES, step_times

NUM_RANKS, WIDTH, NUM_LAYERS, ROUNDS, CORES = 4, 512, 8, 30, 2


@pytest.mark.parametrize(
    ("letters", "kind", "limit"), [("NNN", "DDP", 1.15), ("GGG", "FSDP2", 1.0)]
)
def test_step_beside_pytorchs(goal: GoalFixture, letters: str, kind: str, limit: float) -> None:
    """Time pairs of steps; the ratio is the median over pairs."""
    if len(os.sched_getaffinity(0)) < CORES:
        pytest.skip("needs two cores")
    ranks = on_ranks(
        step_times, NUM_RANKS, letters=letters, kind=kind, width=WIDTH, num_layers=NUM_LAYERS,
        rounds=goal.size(ROUNDS, tried=2),
    )  # fmt: skip
    pairs = [[max(times) for times in zip(*same, strict=True)] for same in zip(*ranks, strict=True)]
    ratios = [mine / theirs for mine, theirs in pairs]
    mine_s, theirs_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    goal(f"paro_step_{letters.lower()}", limit=limit, unit="ratio", direction="at_most")(
        statistics.median(ratios),
        samples=ratios,
        seconds=[mine for mine, _ in pairs],
        note=f"seconds of an optimizer step, {letters} of our engine over {kind} (medians"
        f" {mine_s:.4f} and {theirs_s:.4f}); {NUM_RANKS} ranks in two groups on {CORES} cores,"
        f" {NUM_LAYERS} linear layers of width {WIDTH} in float32, batches of {SEQUENCES},"
        f" AdamW; both take the gradient's norm; pairs in turn, {ROUNDS} of them",
    )
