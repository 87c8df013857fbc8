"""Blocks of seconds into which the time on a card is cut, read from a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from harness.declare.papers import read_model
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import SpecError
from harness.registry import Library, experiments_of
from harness.store.trial import Trial, grid_of
from harness.strict import Strict


class Block(Strict):
    """Some trials, and how long they may take together."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    about: str = Field(min_length=1)
    """What its numbers answer."""
    seconds: int = Field(gt=0)
    tasks: list[str] = Field(min_length=1)
    """As the commands select them."""
    only: dict[str, list[Scalar]] = Field(default_factory=dict)
    """By parameter the values at which trials run; a trial without the parameter does."""
    rehearse: dict[str, Scalar] = Field(default_factory=dict)
    """Parameters that a rehearsal at `smoke` sets in trials that have them."""

    def trials(self, library: Library, profile: Profile) -> Iterator[Trial]:
        """Yield its trials in the order of its tasks; at `smoke` those of a rehearsal."""
        for experiment in experiments_of(self.chosen(library)):
            for trial in grid_of(experiment, profile):
                if profile == "smoke":
                    changed = {n: self.rehearse.get(n, value) for n, value in trial.params.items()}
                    yield Trial(experiment, changed, profile)
                elif all(trial.params.get(n, v[0]) in v for n, v in self.only.items()):
                    yield trial

    def chosen(self, library: Library) -> list[Task]:
        """Return its tasks. Raises UsageError for a name that is none."""
        return [task for each in self.tasks for task in library.select([each])]


class _Blocks(Strict):
    block: list[Block] = Field(min_length=1)


def chosen_blocks(path: Path | None, words: Sequence[str]) -> list[Block]:
    """Return a file's blocks, or those that the words name; none where the words name tasks."""
    blocks = {block.name: block for block in load_blocks(path)} if path else {}
    if not words:
        return list(blocks.values())
    return [blocks[word] for word in words] if blocks.keys() >= {*words} else []


def load_blocks(path: Path) -> list[Block]:
    """Read the blocks of a file, in their order. Raises SpecError that says what is wrong."""
    blocks = read_model(path, _Blocks).block
    names = [block.name for block in blocks]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise SpecError(f"{path}: two blocks are called {min(repeated)!r}: rename one")
    return blocks
