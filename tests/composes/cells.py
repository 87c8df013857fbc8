"""What a method composes with: each cell of its table is a function that tries it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from harness.errors import HarnessError
from reproductions.paro.models.gloo_ranks import on_ranks

ROWS = {
    "compile": "`torch.compile`",
    "amp": "AMP: autocast, `GradScaler`",
    "ddp": "DDP, two ranks",
    "fsdp2": "FSDP2 (`fully_shard`), two ranks",
    "peft": "peft",
    "accelerate": "accelerate",
    "trainer": "transformers' `Trainer`",
    "checkpointing": "gradient checkpointing",
    "fused": "fused and foreach optimizers",
    "save_load": "`save_pretrained`, `from_pretrained`",
}
"""Of every method's table, in order, with their heads."""

Outcome = Literal["works", "refused", "not applicable"]


@dataclass(frozen=True, slots=True)
class Cell:
    """What came of it. What breaks in silence has no word here: it fails where it is tried."""

    outcome: Outcome
    words: str
    """How it works, the sentence that refuses it, or why there is nothing to try."""

    def but(self, what: str, attempt: Callable[[], object]) -> Cell:
        """Add what next to it is refused, with the sentence. Raises AssertionError if it is not."""
        return replace(self, words=f"{self.words}. {what}: {quoted(sentence_of(attempt))}")


def works(how: str) -> Cell:
    return Cell("works", how)


def not_applicable(why: str) -> Cell:
    return Cell("not applicable", why)


def refused(attempt: Callable[[], object]) -> Cell:
    return Cell("refused", quoted(sentence_of(attempt)))


def quoted(sentence: str) -> str:
    """Return a sentence as Markdown shows it in slanted letters, whatever stars it has."""
    return "*" + sentence.replace("*", r"\*") + "*"


def sentence_of(attempt: Callable[[], object]) -> str:
    """Try what must be refused, and return by which words. Raises AssertionError if it is taken."""
    try:
        attempt()
    except HarnessError as error:
        return str(error)
    raise AssertionError("taken without a word")


Trial = Callable[[], Cell]


class Method(Protocol):
    """A module of this folder: what is tried of one method."""

    CELLS: Mapping[str, Trial]
    """By row, those that one process can try."""
    RANKED: Mapping[str, Trial]
    """By row, those that are tried on two ranks, each of which calls all of them in order."""
    REFUSES: Mapping[str, Callable[[], object]]
    """What else is refused, by what one would have done."""


def on_two_ranks(method: Method) -> dict[str, Cell]:
    """Return the cells that two ranks tried, which must say the same."""
    first, second = on_ranks(try_on_rank, 2, name=method.__name__)  # type: ignore[attr-defined]
    assert first == second, f"ranks differ: {first} and {second}"
    return {row: Cell(*told) for row, told in first.items()}


def try_on_rank(name: str) -> dict[str, Any]:
    """Try a method's cells on this rank."""
    from importlib import import_module

    found = {}
    for row, trial in import_module(name).RANKED.items():
        try:
            cell = trial()
        except AssertionError as error:
            raise AssertionError(f"{row}: {error}") from error
        found[row] = [cell.outcome, cell.words]
    return found
