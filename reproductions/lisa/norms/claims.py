"""Checks of adapters as they are drawn at the paper's widths, for Figures 2 and 12."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, CPU_UP, Claim, at_least, at_most, claims
from reproductions.lisa.norms import quantities as q

DRAWN = CHECK.at(
    *CPU_UP, elsewhere="in a model as narrow as smoke's the draw itself scatters by more"
)
"""What peft's initialiser gives, whatever is trained."""
RATIO, SPREAD, DRAW, MOVE = 5.0, 2.0, 0.03, 0.1
"""Thresholds, written down before any run."""


def of_drawn(*models: str, names: str, where: str) -> tuple[Claim, ...]:
    """Return the checks on some models, `names` in words."""
    return claims(
        where,
        (
            "nothing_changed_at_start",
            CHECK,
            # Norms in the table have nine digits.
            at_most(q.start_error, 1e-8, "share"),
            "Before any step the update is zero and merging adapters leaves every layer's norm as"
            " it is (largest change, or relative difference of norms): what adapters measure then"
            " is the draw alone.",
        ),
        (
            "drawn_by_closed_form",
            DRAWN,
            at_most(partial(q.drawn_error, models=models), DRAW, "share"),
            f"Adapters of rank 128 on {names}, as peft draws them, have in every layer the norm"
            " sqrt(n r / 3) of a block with n linear layers, sqrt(r / 3) of a head, sqrt(d r) of"
            " an embedding, within 3 % (largest difference over layers and draws).",
        ),
        (
            "embedding_above_blocks_untrained",
            DRAWN,
            at_least(partial(q.drawn_embedding_ratio, models=models), RATIO, "ratio"),
            "The skew that is shown under LoRA is there before any step: the embedding's adapters"
            f" have at least five times the norm of the median block's ({names}, least ratio).",
        ),
    )
