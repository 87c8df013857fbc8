"""Golden trials of (FG)2U, by study."""

from __future__ import annotations

from tests.reproductions.fg2u import (
    golden_capabilities,
    golden_condensing,
    golden_identities,
    golden_live_memory,
    golden_noise,
    golden_step_time,
)

GOLDEN = (
    *golden_capabilities.GOLDEN,
    *golden_condensing.GOLDEN,
    *golden_identities.GOLDEN,
    *golden_live_memory.GOLDEN,
    *golden_noise.GOLDEN,
    *golden_step_time.GOLDEN,
)
