"""What stands in for what the paper names, by the parameters of the trials behind a task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.store.trial import trials_behind

PART = re.compile(r"width \d|[\d,]+ of \d|\d+ layers ")
"""How a stand-in begins that is no other thing, but less of what the paper names."""


def stand_ins(
    task: Task,
    profile: Profile,
    title: str,
    overrides: Mapping[str, Scalar] | None = None,
) -> dict[str, str]:
    """Return what was run by the names of the paper that it stands in for.

    An experiment that several tasks show has stand-ins that only some of them rest on: those
    count that the task's title names, with what goes with them in each trial; all of them where
    the title names none.
    """
    here: dict[str, dict[str, None]] = {}
    trials: set[frozenset[str]] = set()
    for trial in trials_behind([task], profile, overrides):
        if (tell := trial.experiment.stands_in) is not None:
            told = tell(trial.experiment.typed(trial.params))
            trials.add(frozenset(told))
            for name, what in told.items():
                here.setdefault(name, {})[what] = None
    # In one order, as JSON keeps them: a figure drawn from what is stored is the same.
    joined = {name: " and ".join(here[name]) for name in sorted(here)}
    named = _named(title, joined)
    kept = named | _beside(named, joined, trials) if named else set(joined)
    return {name: what for name, what in joined.items() if name in kept}


def ran_on(here: Mapping[str, str]) -> str:
    """Return stand-ins as a caption says them, nothing where there are none.

    >>> ran_on({"SVHN": "MNIST", "CIFAR-10": "MNIST", "Food-101": "5,000 of its images"})
    "MNIST instead of SVHN and CIFAR-10; 5,000 of Food-101's images"
    >>> ran_on({"VGG16": "width 8 of 64", "widths 9 to 30": "3 and 5 and 6"})
    'VGG16 with width 8 instead of 64; widths 3, 5 and 6 instead of 9 to 30'
    """
    names: dict[str, list[str]] = {}
    for name, what in here.items():
        names.setdefault(what, []).append(name)
    return "; ".join(_instead(_listed(both), what) for what, both in names.items())


def ran_on_sentence(here: Mapping[str, str]) -> str:
    """Return stand-ins as a sentence, nothing where there are none."""
    return f"Ran on: {ran_on(here)}." if here else ""


def _instead(name: str, what: str) -> str:
    """Return what was run beside the name of what the paper ran."""
    if re.search(r"\bits\b", what):
        return re.sub(r"\bits\b", f"{name}'s", what)
    if PART.match(what):
        part = re.sub(r"(\d) of (?=\d)", r"\1 instead of ", what)
        return f"{name} with {part}"
    sized = re.fullmatch(r"(\D+) (\d.*)", name)
    if sized and re.fullmatch(r"\d+( and \d+)*", what):
        return f"{sized[1]} {_listed(what.split(' and '))} instead of {sized[2]}"
    if name in what:
        return what
    return f"{what}{',' if ', ' in what else ''} instead of {name}"


def _listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _named(text: str, here: Mapping[str, str]) -> set[str]:
    """Return the names in a text that something stands in for, the longest of two."""
    names = sorted(here, key=len, reverse=True)
    pattern = rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])"
    return set(re.findall(pattern, text)) if names else set()


def _beside(named: Set[str], here: Mapping[str, str], trials: Set[frozenset[str]]) -> set[str]:
    """Return the further names in all of the trials that have what is named.

    Where no trial has all of it, as where two nets are compared, those that have some of it.
    """
    whole = [trial for trial in trials if named <= trial]
    found = whole or [trial for trial in trials if named & trial]
    return {name for name in here if all(name in trial for trial in found)}
