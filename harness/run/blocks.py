"""Blocks of seconds into which the time on a card is cut, read from a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.declare.papers import read_model
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import SpecError, UsageError
from harness.registry import Library, experiments_of
from harness.store.trial import Trial, each_with_upstream, grid_of
from harness.strict import Strict


class Block(Strict):
    """Some trials, and how long they may take together."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    about: str = Field(min_length=1)
    """What its numbers answer."""
    seconds: int = Field(gt=0)
    tasks: list[str] = Field(min_length=1)
    """As the commands select them."""
    only: dict[str, Annotated[list[Scalar], Field(min_length=1)]] = Field(default_factory=dict)
    """By parameter the values at which trials run; a trial without the parameter does."""
    rehearse: dict[str, Scalar] = Field(default_factory=dict)
    """Parameters that a rehearsal at `smoke` sets in trials that have them."""

    def trials(self, library: Library, profile: Profile) -> Iterator[Trial]:
        """Yield its trials, those of its experiments in turn; at `smoke` those of a rehearsal.

        Raises SpecError for a value that no trial has.
        """
        experiments = experiments_of(self.chosen(library))
        rehearsed = profile == "smoke"
        of_each = [
            [trial for trial in grid_of(each, profile) if rehearsed or self._wants(trial)]
            for each in experiments
        ]
        # A short time then brings something of each.
        trials = [trial for row in zip_longest(*of_each) for trial in row if trial]
        for name, values in () if rehearsed else self.only.items():
            if {trial.params.get(name) for trial in trials} - {None} != {*values}:
                told = f"not every value of {name} = {values} has a trial"
                raise SpecError(f"block {self.name}: {told}: correct it")
        for trial in trials:
            new = {n: value for n, value in self.rehearse.items() if n in trial.params}
            yield replace(trial, params={**trial.params, **new}) if rehearsed else trial

    def _wants(self, trial: Trial) -> bool:
        return all(trial.params[n] in self.only[n] for n in self.only.keys() & trial.params.keys())

    def chosen(self, library: Library) -> list[Task]:
        """Return its tasks. Raises UsageError for a name that is none."""
        return [task for each in self.tasks for task in library.select([each])]


class _Blocks(Strict):
    block: list[Block] = Field(min_length=1)


def tasks_of(blocks: Sequence[Block]) -> list[str]:
    """Return the tasks of some blocks, as the commands select them."""
    return [task for block in blocks for task in block.tasks]


def trials_of(blocks: Sequence[Block], library: Library, profile: Profile) -> list[Trial]:
    """Return the trials of some blocks and those that they start from, each once."""
    return each_with_upstream(trial for block in blocks for trial in block.trials(library, profile))


def chosen_blocks(path: Path | None, words: Sequence[str]) -> list[Block]:
    """Return a file's blocks, or those that the words name; none where the words name tasks.

    Raises UsageError for words of both kinds.
    """
    blocks = {block.name: block for block in load_blocks(path)} if path else {}
    named = [word for word in words if word in blocks]
    if named and len(named) < len(words):
        raise UsageError(f"{' '.join(words)}: give blocks ({', '.join(blocks)}) or tasks, not both")
    return [blocks[word] for word in named] if words else list(blocks.values())


def load_blocks(path: Path) -> list[Block]:
    """Read the blocks of a file, in their order. Raises SpecError that says what is wrong."""
    blocks = read_model(path, _Blocks).block
    names = [block.name for block in blocks]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise SpecError(f"{path}: two blocks are called {min(repeated)!r}: rename one")
    return blocks
