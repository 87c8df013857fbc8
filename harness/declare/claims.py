"""Claims as objects: a statement, what must be measured of it, and where that is decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from harness.declare.cohorts import FIRST
from harness.declare.params import Scalar
from harness.declare.profiles import CPU_UP, PROFILES, Profile
from harness.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

Form = Literal[
    "at_most",
    "less_than",
    "at_least",
    "more_than",
    "within",
    "equal",
    "ordering",
    "strict_ordering",
    "monotone",
    "strict_monotone",
    "ratio",
]
STRICT: tuple[Form, ...] = ("less_than", "more_than", "strict_ordering", "strict_monotone")
"""Forms in which the threshold itself does not do."""
STEPS: tuple[Form, ...] = ("ordering", "strict_ordering", "monotone", "strict_monotone")
"""Forms that judge every step of a sequence of numbers."""
Grade = Literal["exact", "empirical"]
ThresholdFrom = Literal["paper", "theory", "calibration", "ours"]
Threshold = float | tuple[float, float]
Quantity = Callable[..., "float | Sequence[float]"]
"""From the table of one seed (the whole table where deterministic) to a number, or to several that
must each meet a bound. `ratio` needs (numerator, denominator), both positive, or several such
pairs one after the other; `ordering` and `monotone` need at least two numbers claimed to ascend.
May raise InvalidQuantity or MissingRows."""
Doubt = Callable[..., str]
"""From a complete table to why a quantity's numbers decide nothing on it, else an empty string."""
PaperValue = Callable[["pd.DataFrame"], "float | None"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Criterion:
    """What is measured, and what it must be."""

    form: Form
    quantity: Quantity
    threshold: Threshold
    """`within` and `ratio`: (low, high), which may be infinite; `ordering` and `monotone`: the
    slack allowed to each step; `equal`: the expected value; else the bound."""
    unit: str
    tolerance: float = 0.0
    """The largest absolute difference of `equal`."""
    paper_value: PaperValue | None = None
    """From the paper's reference rows to its number for this quantity; None: not published."""
    is_derived: bool = False
    """Whether that number is computed from one that the paper prints, as 1/2.9 is of 2.9 times."""
    at_least_of: int | None = None
    """How many of the quantity's numbers must meet the bound, each by its own interval; all by
    default. Which of them do is decided over seeds, never inside one."""
    names: tuple[str, ...] = ()
    """What each judged number is, in their order, for who reads the one that decides."""
    doubt: Doubt | None = None
    """Says where what was measured decides nothing, as where a hyperparameter was chosen at the
    edge of its grid: the numbers stand, the verdict is INCONCLUSIVE."""

    def __post_init__(self) -> None:
        pair = isinstance(self.threshold, tuple)
        if pair != (self.form in ("within", "ratio")):
            raise SpecError(f"form {self.form} does not fit the threshold {self.threshold}")
        bounds = self.threshold if isinstance(self.threshold, tuple) else (self.threshold,)
        if any(math.isnan(bound) for bound in bounds) or bounds[0] > bounds[-1]:
            raise SpecError(f"threshold {self.threshold}: nothing can meet it")
        if self.form == "ratio" and bounds[-1] <= 0:
            raise SpecError(f"threshold {self.threshold}: a ratio is positive")
        if not self.tolerance >= 0.0:
            raise SpecError(f"tolerance={self.tolerance}, need at least 0")
        if self.at_least_of is not None and self.at_least_of < 1:
            raise SpecError(f"at_least_of={self.at_least_of}, need at least 1")

    def unless(self, doubt: Doubt) -> Criterion:
        """Return the criterion that decides nothing where `doubt` says why."""
        return replace(self, doubt=doubt)

    def beside_derived(self, paper_value: PaperValue) -> Criterion:
        """Return the criterion beside a number that is computed from what the paper prints."""
        return replace(self, paper_value=paper_value, is_derived=True)

    def naming(self, *names: str) -> Criterion:
        """Return the criterion that says of which of its numbers the verdict speaks."""
        return replace(self, names=names)

    def in_at_least(self, count: int) -> Criterion:
        """Return the criterion that so many of the quantity's numbers must meet."""
        return replace(self, at_least_of=count)


def at_most(
    quantity: Quantity, threshold: float, unit: str, *, paper_value: PaperValue | None = None
) -> Criterion:
    """Ask that a quantity is at most a threshold."""
    return _bound("at_most", quantity, threshold, unit, paper_value)


def less_than(
    quantity: Quantity, threshold: float, unit: str, *, paper_value: PaperValue | None = None
) -> Criterion:
    """Ask that a quantity is below a threshold."""
    return _bound("less_than", quantity, threshold, unit, paper_value)


def at_least(
    quantity: Quantity, threshold: float, unit: str, *, paper_value: PaperValue | None = None
) -> Criterion:
    """Ask that a quantity is at least a threshold."""
    return _bound("at_least", quantity, threshold, unit, paper_value)


def more_than(
    quantity: Quantity, threshold: float, unit: str, *, paper_value: PaperValue | None = None
) -> Criterion:
    """Ask that a quantity is above a threshold."""
    return _bound("more_than", quantity, threshold, unit, paper_value)


def _bound(
    form: Form,
    quantity: Quantity,
    threshold: float,
    unit: str,
    paper_value: PaperValue | None,
) -> Criterion:
    return Criterion(
        form=form,
        quantity=quantity,
        threshold=float(threshold),
        unit=unit,
        paper_value=paper_value,
    )


def within(
    quantity: Quantity,
    low: float,
    high: float,
    unit: str,
    *,
    paper_value: PaperValue | None = None,
) -> Criterion:
    """Ask that a quantity lies between two thresholds, which belong to the range."""
    return Criterion(
        form="within",
        quantity=quantity,
        threshold=(float(low), float(high)),
        unit=unit,
        paper_value=paper_value,
    )


def ratio(
    quantity: Quantity,
    low: float,
    high: float,
    unit: str = "ratio",
    *,
    paper_value: PaperValue | None = None,
) -> Criterion:
    """Ask that numerator over denominator lies in a range, as a geometric mean over seeds."""
    return Criterion(
        form="ratio",
        quantity=quantity,
        threshold=(float(low), float(high)),
        unit=unit,
        paper_value=paper_value,
    )


def equal(
    quantity: Quantity,
    value: float,
    unit: str,
    *,
    tolerance: float = 0.0,
    paper_value: PaperValue | None = None,
) -> Criterion:
    """Ask that a quantity equals a value, to a tolerance."""
    return Criterion(
        form="equal",
        quantity=quantity,
        threshold=float(value),
        unit=unit,
        tolerance=tolerance,
        paper_value=paper_value,
    )


def ordering(
    quantity: Quantity,
    unit: str,
    *,
    slack: float = 0.0,
    strict: bool = False,
    paper_value: PaperValue | None = None,
) -> Criterion:
    """Ask that numbers of unlike things ascend, each step by minus the slack at least.

    strict: by more than that.
    """
    form: Form = "strict_ordering" if strict else "ordering"
    return _bound(form, quantity, slack, unit, paper_value)


def monotone(
    quantity: Quantity,
    unit: str,
    *,
    slack: float = 0.0,
    strict: bool = False,
    paper_value: PaperValue | None = None,
) -> Criterion:
    """Ask that numbers along one axis ascend, each step by minus the slack at least.

    strict: by more than that.
    """
    form: Form = "strict_monotone" if strict else "monotone"
    return _bound(form, quantity, slack, unit, paper_value)


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
    caveat: str = ""
    """What must stand beside its verdict wherever its statement does not, in a few words."""

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

    def noting(self, caveat: str) -> Scope:
        """Return the scope of a claim whose verdict needs a few words wherever it stands."""
        return replace(self, caveat=caveat)


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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Claim:
    """One checkable statement, evaluated on a task's table."""

    id: str
    """Short word, unique in its task."""
    statement: str
    """The claim in our words."""
    where: str
    """Where the paper says it."""
    criterion: Criterion
    scope: Scope

    def __post_init__(self) -> None:
        if self.criterion.form == "equal" and not self.scope.deterministic:
            raise SpecError(f"claim {self.id}: equality over seeds must be one number for all")


def claims(where: str, *declared: tuple[str, Scope, Criterion, str]) -> tuple[Claim, ...]:
    """Return claims on what one place of the paper says.

    declared: id, scope, criterion, and the statement in our words.
    """
    return tuple(
        Claim(id=id, statement=statement, where=where, criterion=criterion, scope=scope)
        for id, scope, criterion, statement in declared
    )
