"""Checks of adapters as they are drawn at the paper's widths, for Figures 2 and 12."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, CPU_UP, Claim, at_least, at_most, claims
from reproductions.lisa.norms import quantities as q

DRAWN = CHECK.at(*CPU_UP, elsewhere="the adapters of so narrow a model scatter by more")
"""What peft's initialiser gives, whatever is trained."""
RATIO, SPREAD, DRAW, MOVE = 5.0, 2.0, 0.03, 0.1
"""Thresholds, written down before any run."""


def of_drawn(*models: str, where: str) -> tuple[Claim, ...]:
    """Return the checks on the adapters of some models."""
    return claims(
        where,
        (
            "drawn_by_closed_form",
            DRAWN,
            at_most(partial(q.drawn_error, models=models), DRAW, "share").measuring(
                "largest difference over layers and draws"
            ),
            "Untrained adapters have the norms that the closed form of their initialiser gives.",
        ),
        (
            "embedding_above_blocks_untrained",
            DRAWN,
            at_least(partial(q.drawn_embedding_ratio, models=models), RATIO, "ratio").measuring(
                "the embedding's norm over the median block's"
            ),
            "Before any training the embedding's adapters have at least five times a block's norm.",
        ),
    )
