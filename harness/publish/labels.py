"""What stands in for what the paper names, by the parameters of the trials behind a task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.store.trial import trials_behind

TEX_SIGNS = {"\u03bc": r"\mu", "\u03c1": r"\rho", "\u0394": r"\Delta", "\u2207": r"\nabla"}
"""Signs of figures and tables that not every LaTeX knows as text, by their names in mathematics."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Names of the paper, and what was run in their place."""

    here: Mapping[str, str] = field(default_factory=dict)
    trials: tuple[frozenset[str], ...] = ()
    """The names that one trial has stand-ins for, for each kind of trial; by default all of them
    in one. So a claim on one data set says which net read it, and no other."""
    levels: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By a parameter's name and value: what stood in for what the value names, as a data set."""

    def within(self, title: str) -> Labels:
        """Return what stands in for what a title names, and for what always goes with it.

        An experiment that several tasks show has stand-ins that only some of them rest on; where
        the title names none, all of them count.
        """
        named = self.named(title)
        kept = named.union(self._beside(named)) if named else set(self.here)
        here = {name: what for name, what in self.here.items() if name in kept}
        trials = tuple(dict.fromkeys(trial & kept for trial in self.trials))
        return replace(self, here=here, trials=trials)

    def named(self, text: str) -> set[str]:
        """Return the names of the paper in a text that something stands in for."""
        if not self.here:
            return set()
        return set(_whole_words(sorted(self.here, key=len, reverse=True)).findall(text))

    def _beside(self, named: set[str]) -> list[str]:
        """Return the further names in all of the trials that have what is named.

        Where no trial has all of it, as where two nets are compared, those that have some of it.
        What stands in for two things, one of them named, is not told again.
        """
        trials = self.trials or (frozenset(self.here),)
        whole = [trial for trial in trials if named <= trial]
        found = whole or [trial for trial in trials if named & trial]
        said = {self.here[name] for name in named}
        kept = (name for name, what in self.here.items() if name not in named and what not in said)
        return [name for name in kept if all(name in trial for trial in found)]

    def names(self, text: str) -> str:
        """Return a text with what was run behind each name of the paper, where it has any."""
        if not self.here:
            return text
        told = set()

        def say(match: re.Match[str]) -> str:
            name = match.group()
            if name in told:
                return name
            told.add(name)
            return f"{name} (here {self.here[name]})"

        return _whole_words(sorted(self.here, key=len, reverse=True)).sub(say, text)

    def caption(self, title: str) -> str:
        """Return a title with what was run in the place of what the paper names."""
        return f"{title}. Ran on: {self}." if self.here else title

    def level(self, column: str, value: object) -> str:
        """Return a parameter's value as a table prints it, with what it was run on or with."""
        here = self.levels.get((column, str(value)))
        return f"{value} (here {here})" if here else str(value)

    def __str__(self) -> str:
        names: dict[str, list[str]] = {}
        for name, what in self.here.items():
            names.setdefault(what, []).append(name)
        return ", ".join(f"{what} for {' and '.join(both)}" for what, both in names.items())


def _whole_words(names: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])")


def labels_of(
    task: Task,
    profile: Profile,
    title: str = "",
    overrides: Mapping[str, Scalar] | None = None,
) -> Labels:
    """Return what stands in for what at a profile, over all trials that a task rests on.

    title: of the task, whose names alone count where it has any.
    """
    here: dict[str, dict[str, None]] = {}
    kinds: dict[frozenset[str], None] = {}
    levels: dict[tuple[str, str], dict[str, None]] = {}
    known: set[tuple[object, ...]] = set()
    for trial in trials_behind([task], profile, overrides):
        tell = trial.experiment.stands_in
        if tell is not None:
            told = tell(trial.experiment.typed(trial.params))
            kinds[frozenset(told)] = None
            for name, what in told.items():
                here.setdefault(name, {})[what] = None
            for key, value in trial.params.items():
                met = (key, value, *told.items())
                if isinstance(value, str) and met not in known:
                    # A grid has many trials of few words.
                    known.add(met)
                    found = dict.fromkeys(_of_level(value, told))
                    levels.setdefault((key, value), {}).update(found)
    # In one order, as JSON keeps them: a figure drawn from what is stored is the same.
    joined = {name: " and ".join(here[name]) for name in sorted(here)}
    of_levels = {key: ", ".join(told) for key, told in levels.items() if told}
    return Labels(joined, tuple(kinds), of_levels).within(title)


def _of_level(value: str, told: Mapping[str, str]) -> list[str]:
    """Return what stood in for what a parameter's value names, in the order of its words.

    >>> _of_level("resnet20_svhn", {"SVHN": "MNIST", "ResNet20": "width 8"})
    ['width 8', 'MNIST']
    >>> _of_level("vgg16nobn_cifar100", {"VGG16": "width 8", "CIFAR-10": "some of its images"})
    ['width 8']
    """
    words = [_plain(word) for word in value.split("_")]
    # Behind a name that ends in a number, letters say of what kind it is; a digit makes another.
    rests = {name: r"[a-z]*" if name[-1:].isdigit() else "" for name in map(_plain, told)}
    return [
        what
        for word in words
        for name, what in told.items()
        if re.fullmatch(_plain(name) + rests[_plain(name)], word)
    ]


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
