"""What the printed tables of several studies share: heads of models and methods, rows of both."""

from __future__ import annotations

from collections.abc import Iterable

from harness.declare import Line
from reproductions.lisa.models.names import LABELS, NAMES
from reproductions.lisa.models.scored import METHODS, VANILLA

HEADS = LABELS | {VANILLA: "Vanilla", "full": "FT"}
"""Methods as the paper's tables of quality call them: there Vanilla is the untuned model."""
VANILLA_IS_UNTUNED = "Vanilla is the untuned model here; in Table 1 it is full training."
ALL_BLOCKS = (
    "Our model has eight blocks, so gamma = 8 is full training, and the same run for every K."
)
ALL_METHODS = (VANILLA, *METHODS)
HELD_OUT = "held-out loss; in the paper MT-Bench"
PROBLEMS = "GSM8K"


def blocks_head(gamma: int) -> str:
    """Return how the paper writes LISA's embeddings, head and blocks.

    >>> blocks_head(0), blocks_head(2)
    ('E+H', 'E+H+2L')
    """
    return f"E+H+{gamma}L" if gamma else "E+H"


def models_and_methods(models: Iterable[str]) -> tuple[Line, ...]:
    """Return a row per method, grouped by model."""
    return tuple(
        Line(
            HEADS[method],
            group=NAMES[model],
            where={"model": model, "method": method},
            paper={"series": f"{model} {method}"},
        )
        for model in models
        for method in ALL_METHODS
    )
