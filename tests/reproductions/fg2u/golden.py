"""Golden trials of (FG)2U, by study."""

from __future__ import annotations

from tests.reproductions.fg2u import golden_identities, golden_live_memory

GOLDEN = (*golden_identities.GOLDEN, *golden_live_memory.GOLDEN)
