"""Cells that are tried on two ranks: one start of them for all methods that are asked."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

# Imported by cells as they are tried: here, once for both ranks.
import accelerate  # noqa: F401
import peft  # noqa: F401
from transformers import Trainer  # noqa: F401

from reproductions.paro.models.gloo_ranks import on_ranks
from tests.composes.cells import Cell


def on_two_ranks(names: Sequence[str]) -> dict[str, dict[str, Cell]]:
    """Return by method the cells that two ranks tried, which must say the same."""
    first, second = on_ranks(try_on_rank, 2, names=[*names])
    assert first == second, f"ranks differ: {first} and {second}"
    return {
        name: {row: Cell(*told) for row, told in cells.items()} for name, cells in first.items()
    }


def try_on_rank(names: list[str]) -> dict[str, dict[str, Any]]:
    """Try methods' cells on this rank, one after another."""
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        found[name] = {}
        for row, trial in import_module(f"tests.composes.{name}").RANKED.items():
            try:
                cell = trial()
            except AssertionError as error:
                raise AssertionError(f"{name}, {row}: {error}") from error
            found[name][row] = [cell.outcome, cell.words]
    return found
