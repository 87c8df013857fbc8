"""What stands in for what the paper names, by the parameters of the trials behind a task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.declare.claims import Claim
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.run.trial import trials_behind

FEW = 4
"""How many stand-ins are named behind a text that names nothing of the paper."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Names of the paper, and what was run in their place."""

    here: Mapping[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """Return a title or a statement that says what was run.

        >>> Labels({"SVHN": "MNIST"}).text("ResNet20 on SVHN")
        'ResNet20 on SVHN (here MNIST)'
        >>> Labels({"SVHN": "MNIST"}).text("Curves")
        'Curves (here MNIST for SVHN)'
        """
        named = self.names(text)
        if named != text or not self.here:
            return named
        what = str(self) if len(self.here) <= FEW else "stand-ins, see the deviations"
        return f"{text.removesuffix('.')} (here {what})" + ("." if text.endswith(".") else "")

    def statement(self, claim: Claim) -> str:
        """Return a claim's statement, which says what was run, or a check's, where it names it."""
        tell = self.names if claim.scope.grade == "exact" else self.text
        return tell(claim.statement)

    def within(self, title: str) -> Labels:
        """Return what stands in for what a title names; all of it where it names nothing.

        An experiment that several tasks show has stand-ins that only some of them rest on.
        """
        named = {
            name: what for name, what in self.here.items() if _whole_words([name]).search(title)
        }
        return Labels(named) if named else self

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

    def __str__(self) -> str:
        return ", ".join(f"{what} for {name}" for name, what in self.here.items())


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
    for trial in trials_behind([task], profile, overrides):
        tell = trial.experiment.stands_in
        if tell is not None:
            for name, what in tell(trial.experiment.typed(trial.params)).items():
                here.setdefault(name, {})[what] = None
    return Labels({name: " and ".join(what) for name, what in here.items()}).within(title)
