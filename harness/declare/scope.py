"""Where a criterion is decided, what must hold first, and from where its threshold is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from harness.declare.criterion import Criterion
from harness.declare.profiles import CPU_UP, PROFILES, SMOKE_AND_CPU, Profile
from harness.errors import SpecError

Grade = Literal["exact", "empirical"]
ThresholdFrom = Literal["paper", "theory", "calibration", "ours"]
ELSEWHERE = "this scale cannot show it"


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """What must hold on a table before a claim can be judged on it at all."""

    statement: str
    """What it says in words: "the nets reach at most 20 % test error"."""
    criterion: Criterion


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """Where a criterion is decided, by what control, and where its threshold comes from."""

    grade: Grade
    """`exact`: an identity, formula or count, which says that our code is right; `empirical`: a
    statement of the paper."""
    threshold_from: ThresholdFrom
    """`paper`: a number of the paper; `theory`: it follows from the method or a theorem, which the
    claim's source names; `calibration`: other data and nets; `ours`: our reading of a word."""
    profiles: tuple[Profile, ...]
    """Where it is decidable; elsewhere the verdict is UNTESTED, "scale"."""
    elsewhere: str = ELSEWHERE
    """Why the other profiles cannot decide it."""
    deviation: str = ""
    """The entry of deviations.toml that says why the threshold is ours."""
    deterministic: bool = False
    """The quantity has no seeds: it is taken once, on the whole table, and has no interval."""
    control: Control | None = None
    """The positive control of a claim that rests on training or timing."""
    own_question: bool = False
    """Whether we ask it and the paper does not say it: counted apart from the paper's claims."""

    def __post_init__(self) -> None:
        if not self.profiles or not set(self.profiles) <= set(PROFILES):
            raise SpecError(f"profiles={self.profiles}, need some of {PROFILES}")
        # A number measured in the paper's setting says nothing about another scale.
        if (
            self.grade == "empirical"
            and self.threshold_from == "paper"
            and self.profiles != ("paper",)
        ):
            raise SpecError("a threshold of the paper is decided at `paper` only")
        if (self.threshold_from == "ours") != bool(self.deviation):
            raise SpecError("a threshold of ours names its deviation, and no other one does")
        if self.grade == "exact" and (self.own_question or self.control):
            raise SpecError("a check says that our code is right: it asks nothing, by no control")

    @property
    def can_contradict(self) -> bool:
        """Whether its claim can be CONTRADICTED: it has a positive control, or needs none.

        What has no seeds was counted or computed: no setting was too weak to show it.
        """
        return self.grade == "exact" or self.deterministic or self.control is not None

    def at(self, *profiles: Profile, elsewhere: str = "") -> Scope:
        """Return the same scope, decided at other profiles."""
        return replace(self, profiles=profiles, elsewhere=elsewhere or self.elsewhere)

    def asked_by_us(self) -> Scope:
        """Return the scope of a question of our own, which is no claim of the paper."""
        return replace(self, own_question=True)

    def controlled(self, statement: str, criterion: Criterion) -> Scope:
        """Return the scope of a claim that is judged only where a positive control holds."""
        return replace(self, control=Control(statement=statement, criterion=criterion))


CHECK = Scope(
    grade="exact",
    threshold_from="theory",
    profiles=PROFILES,
    elsewhere="this profile has no such runs",
    deterministic=True,
)
"""An exact statement, on the whole table, wherever it was run."""
SMALL_CHECK = CHECK.at(*SMOKE_AND_CPU)
"""The same of trials that run at these scales alone."""


by_theory = partial(Scope, grade="empirical", threshold_from="theory", profiles=CPU_UP)
"""Scope of a claim whose threshold follows from the method or a theorem."""


def ours(
    deviation: str,
    *,
    profiles: tuple[Profile, ...] = CPU_UP,
    elsewhere: str = ELSEWHERE,
    deterministic: bool = False,
) -> Scope:
    """Return the scope of a claim of the paper whose threshold is our reading of a word."""
    return Scope(
        grade="empirical", threshold_from="ours", deviation=deviation,
        profiles=profiles, elsewhere=elsewhere, deterministic=deterministic,
    )  # fmt: skip
