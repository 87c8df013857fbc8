"""The tables of docs/ that say what each method composes with and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from tests.checkout import ROOT
from tests.composes.cells import ROWS, Cell, Method, quoted, sentence_of
from tests.composes.ranked import on_two_ranks

NAMES = ("supar", "asymvalley", "lisa", "fg2u", "paro")


def method_of(name: str) -> Method:
    return cast(Method, import_module(f"tests.composes.{name}"))


def page_of(name: str) -> Path:
    return ROOT / "docs" / f"{name}.md"


def row_of(row: str, cell: Cell) -> str:
    """Return a line of the table."""
    words = cell.words.replace("|", r"\|")
    return f"| {ROWS[row]} | {cell.outcome} | {words} |"


def refusal_of(what: str, sentence: str) -> str:
    """Return a line of what else is refused."""
    return f"- {what}: {quoted(sentence)}"


def tried(name: str) -> Mapping[str, Cell]:
    """Try every cell of a method."""
    method = method_of(name)
    found = {row: trial() for row, trial in method.CELLS.items()} | on_two_ranks([name])[name]
    return {row: found[row] for row in ROWS}


def composes_block(name: str) -> str:
    head = "| with | | how, or the sentence that refuses it |\n| --- | --- | --- |"
    return "\n".join([head, *(row_of(row, cell) for row, cell in tried(name).items())])


def refuses_block(name: str) -> str:
    attempts = method_of(name).REFUSES.items()
    return "\n".join(refusal_of(what, sentence_of(attempt)) for what, attempt in attempts)


def shown(name: str, block: str) -> list[str]:
    """Return the lines of a generated block of a page."""
    text = page_of(name).read_text(encoding="utf-8")
    _, _, after = text.partition(f"<!-- {block}:begin -->")
    block, _, _ = after.partition(f"<!-- {block}:end -->")
    return block.strip().splitlines()
