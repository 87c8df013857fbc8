"""What a method composes with: each cell of its table is a function that tries it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from harness.errors import HarnessError

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
