"""The check that Tables 3 and 4 share."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import CHECK, Claim, claims, equal
from reproductions.supar.settings.quantities import num_differences


def as_published(word: str, statement: str) -> tuple[Claim, ...]:
    """Return the check that our grids have every number that a table prints."""
    return claims(
        f"Table {int(word[3:])}",
        (
            "settings_as_published",
            replace(CHECK, threshold_from="paper"),
            equal(partial(num_differences, word=word), 0, "settings").measuring(
                "settings that differ"
            ),
            statement,
        ),
    )
