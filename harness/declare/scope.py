"""Where a criterion is decided, by which seeds, from where its threshold is, and how it counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from harness.declare.cohorts import FIRST
from harness.declare.params import Scalar
from harness.declare.profiles import CPU_UP, PROFILES, Profile
from harness.errors import SpecError

Grade = Literal["exact", "empirical"]
ThresholdFrom = Literal["paper", "theory", "calibration", "ours"]
PaperNumber = Literal["unknown", "unpublished", "quoted"]
"""What is known of the paper's number for a quantity where none is given. `unknown`: it may print
one; `unpublished`: it prints none; `quoted`: the statement tells it, of what the paper measured."""


@dataclass(frozen=True, slots=True)
class Factor:
    """What an empirical claim compares: were there no effect, its labels could change places."""

    column: str
    """In the task's table; complete in every seed."""
    levels: tuple[Scalar, ...] = ()
    """Those that are compared; all of them where empty."""
    mirrored: bool = False
    """Whether its levels lie on both sides of zero, and the two sides can only change as wholes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """Where a criterion is decided, by which seeds, and where its threshold comes from."""

    grade: Grade
    """`exact`: an identity, formula or count, which says that our code is right; `empirical`: a
    statement of the paper."""
    threshold_from: ThresholdFrom
    """`paper`: a number of the paper; `theory`: it follows from the method or a theorem, which the
    claim's source names; `calibration`: other data and nets; `ours`: our reading of a word."""
    profiles: tuple[Profile, ...]
    """Where it is decidable; elsewhere the verdict is OUT_OF_PROFILE."""
    elsewhere: str = "this scale cannot show it"
    """Why the other profiles cannot decide it."""
    deviation: str = ""
    """The entry of deviations.toml that says why the threshold is ours."""
    deterministic: bool = False
    """The quantity has no seeds: it is taken once, on the whole table, and has no interval."""
    cohort: str = FIRST
    """The cohort of seeds that judges it, alone; verdicts of other cohorts are shown beside."""
    factor: Factor | None = None
    """What chance may shuffle, to see how often that alone would read REPRODUCED."""
    no_null: str = ""
    """Why there is nothing to shuffle: an equivalence, say."""
    own_question: bool = False
    """Whether we ask it and the paper does not say it: counted apart from the paper's claims."""
    whole: str = ""
    """The claim of the same task that it is half of: either half would do for the whole, which
    decides. Counted apart from the paper's claims."""
    by_construction: str = ""
    """In a few words, what all but sets its number whatever is trained, as the method's rule."""
    caveat: str = ""
    """What must stand beside its verdict wherever its statement does not, in a few words."""
    paper_number: PaperNumber = "unknown"
    """What is known of the paper's number where the criterion has none."""

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
        if self.factor is not None and self.no_null:
            raise SpecError("a claim with a factor needs no reason why it has none")
        if self.own_question and self.grade == "exact":
            raise SpecError("a check is no question: it says that our code is right")
        if self.whole and (self.own_question or self.grade == "exact"):
            raise SpecError("a half of an either-or is a claim of the paper")

    def at(self, *profiles: Profile, elsewhere: str = "") -> Scope:
        """Return the same scope, decided at other profiles."""
        return replace(self, profiles=profiles, elsewhere=elsewhere or self.elsewhere)

    def comparing(self, column: str, *levels: Scalar) -> Scope:
        """Return the scope of a claim that compares levels of a column: these, or all."""
        return replace(self, factor=Factor(column, levels), no_null="")

    def mirroring(self, column: str) -> Scope:
        """Return the scope of a claim that compares a column's positive side with its negative."""
        return replace(self, factor=Factor(column, mirrored=True), no_null="")

    def without_null(self, reason: str) -> Scope:
        """Return the scope of a claim that chance cannot be set against, and why."""
        return replace(self, factor=None, no_null=reason)

    def asked_by_us(self) -> Scope:
        """Return the scope of a question of our own, which is no claim of the paper."""
        return replace(self, own_question=True)

    def half_of(self, whole: str) -> Scope:
        """Return the scope of a half of an either-or; `whole`: the claim of which it is one."""
        return replace(self, whole=whole)

    def constructed(self, why: str) -> Scope:
        """Return the scope of a claim whose number is set by construction, or nearly so."""
        return replace(self, by_construction=why)

    def noting(self, caveat: str) -> Scope:
        """Return the scope of a claim whose verdict needs a few words wherever it stands."""
        return replace(self, caveat=caveat)

    def unpublished(self) -> Scope:
        """Return the scope of a claim for whose quantity the paper prints no number at all."""
        return replace(self, paper_number="unpublished")

    def quoting_paper(self) -> Scope:
        """Return the scope of a claim whose statement tells the number that the paper has."""
        return replace(self, paper_number="quoted")


CHECK = Scope(
    grade="exact",
    threshold_from="theory",
    profiles=PROFILES,
    elsewhere="this profile has no such runs",
    deterministic=True,
)
"""An exact statement, on the whole table, wherever it was run."""


def ours(
    deviation: str,
    *,
    profiles: tuple[Profile, ...] = CPU_UP,
    elsewhere: str = "this scale cannot show it",
    deterministic: bool = False,
    cohort: str = FIRST,
) -> Scope:
    """Return the scope of a claim of the paper whose threshold is our reading of a word."""
    return Scope(
        grade="empirical",
        threshold_from="ours",
        deviation=deviation,
        profiles=profiles,
        elsewhere=elsewhere,
        deterministic=deterministic,
        cohort=cohort,
    )


def by_theory(
    *,
    profiles: tuple[Profile, ...] = CPU_UP,
    elsewhere: str = "this scale cannot show it",
    deterministic: bool = False,
    cohort: str = FIRST,
) -> Scope:
    """Return the scope of a claim whose threshold follows from the method or a theorem."""
    return Scope(
        grade="empirical",
        threshold_from="theory",
        profiles=profiles,
        elsewhere=elsewhere,
        deterministic=deterministic,
        cohort=cohort,
    )
