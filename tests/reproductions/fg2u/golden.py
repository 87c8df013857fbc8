"""Golden trials of (FG)2U, by study."""

from __future__ import annotations

from tests.reproductions.fg2u import (
    golden_adaptation,
    golden_coefficients,
    golden_condensing,
    golden_identities,
    golden_image_sets,
    golden_live_memory,
    golden_noise,
    golden_overview,
)

GOLDEN = (
    *golden_adaptation.GOLDEN,
    *golden_coefficients.GOLDEN,
    *golden_condensing.GOLDEN,
    *golden_identities.GOLDEN,
    *golden_image_sets.GOLDEN,
    *golden_live_memory.GOLDEN,
    *golden_noise.GOLDEN,
    *golden_overview.GOLDEN,
)
