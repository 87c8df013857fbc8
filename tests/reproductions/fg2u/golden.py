"""Golden trials of (FG)2U, by study."""

from __future__ import annotations

from tests.reproductions.fg2u import (
    golden_condensing,
    golden_identities,
    golden_live_memory,
    golden_noise,
    golden_overview,
)

GOLDEN = (
    *golden_condensing.GOLDEN,
    *golden_identities.GOLDEN,
    *golden_live_memory.GOLDEN,
    *golden_noise.GOLDEN,
    *golden_overview.GOLDEN,
)
