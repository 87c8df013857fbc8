"""Golden trials of (FG)2U."""

from __future__ import annotations

from tests.reproductions.fg2u import golden_noise

GOLDEN = (*golden_noise.GOLDEN,)
