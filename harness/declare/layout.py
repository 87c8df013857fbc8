"""How a paper prints a table: what stands in its rows, columns and cells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """One printed table."""

    rows: tuple[str, ...]
