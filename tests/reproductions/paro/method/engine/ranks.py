"""Ranks of gloo for a test, by the name that tests know."""

from __future__ import annotations

from reproductions.paro.models.gloo_ranks import on_ranks

__all__ = ["on_ranks"]
