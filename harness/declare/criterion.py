"""What a claim or a control asks of a table: a form, a quantity and a threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from harness.declare.table import Frame
from harness.errors import SpecError

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
Threshold = float | tuple[float, float]
Quantity = Callable[..., "float | Sequence[float]"]
"""From the table of one seed (the whole table where deterministic) to a number, or to several that
must each meet a bound. `ratio` needs (numerator, denominator), both positive, or several such
pairs one after the other; `ordering` and `monotone` need at least two numbers claimed to ascend.
May raise InvalidQuantity or MissingRows."""
Doubt = Callable[..., str]
"""From a complete table to why a quantity's numbers decide nothing on it, else an empty string."""
PaperValue = Callable[[Frame], "float | None"]


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
    """From the paper's reference rows to its number for this quantity; None
    where it prints none."""
    is_derived: bool = False
    """Whether that number is computed from one that the paper prints, as 1/2.9 is of 2.9 times."""
    at_least_of: int | None = None
    """How many of the quantity's numbers must meet the bound, each by its own interval; all by
    default. Which of them do is decided over seeds, never inside one."""
    names: tuple[str, ...] = ()
    """What each judged number is, in their order, for who reads the one that decides."""
    measures: str = ""
    """What a judged number is, in a few words, where statement and bound leave that open: of a
    difference, which is taken from which."""
    doubt: Doubt | None = None
    """Says where what was measured decides nothing, as where a hyperparameter was chosen at the
    edge of its grid: the numbers stand, the verdict is UNDECIDED."""

    def __post_init__(self) -> None:
        bounds = self.threshold if isinstance(self.threshold, tuple) else (self.threshold,)
        # A ratio is positive; and nothing is above NaN, nor below it.
        if not bounds[0] <= bounds[-1] or (self.form == "ratio" and bounds[-1] <= 0):
            raise SpecError(f"threshold {self.threshold} of {self.form}: nothing can meet it")

    def unless(self, doubt: Doubt) -> Criterion:
        """Return the criterion that decides nothing where `doubt` says why."""
        return replace(self, doubt=doubt)

    def beside_derived(self, paper_value: PaperValue) -> Criterion:
        """Return the criterion beside a number that is computed from what the paper prints."""
        return replace(self, paper_value=paper_value, is_derived=True)

    def naming(self, *names: str) -> Criterion:
        """Return the criterion that says of which of its numbers the verdict speaks."""
        return replace(self, names=names)

    def measuring(self, what: str) -> Criterion:
        """Return the criterion that says what each of its numbers is."""
        return replace(self, measures=what)

    def in_at_least(self, count: int) -> Criterion:
        """Return the criterion that so many of the quantity's numbers must meet."""
        return replace(self, at_least_of=count)


def _bound(
    form: Form,
    quantity: Quantity,
    threshold: float,
    unit: str,
    *,
    tolerance: float = 0.0,
    paper_value: PaperValue | None = None,
) -> Criterion:
    return Criterion(
        form=form, quantity=quantity, threshold=float(threshold), unit=unit,
        tolerance=tolerance, paper_value=paper_value,
    )  # fmt: skip


at_most = partial(_bound, "at_most")
"""Ask that a quantity is at most a threshold: `at_most(quantity, threshold, unit)`."""
less_than = partial(_bound, "less_than")
"""Ask that a quantity is below a threshold."""
at_least = partial(_bound, "at_least")
"""Ask that a quantity is at least a threshold."""
more_than = partial(_bound, "more_than")
"""Ask that a quantity is above a threshold."""
equal = partial(_bound, "equal")
"""Ask that a quantity equals a value, to a `tolerance`."""


def _range(
    form: Form,
    quantity: Quantity,
    low: float,
    high: float,
    unit: str = "ratio",
    *,
    paper_value: PaperValue | None = None,
) -> Criterion:
    bounds = (float(low), float(high))
    return Criterion(
        form=form, quantity=quantity, threshold=bounds, unit=unit, paper_value=paper_value
    )


within = partial(_range, "within")
"""Ask that a quantity lies between two thresholds, which belong to the range."""
ratio = partial(_range, "ratio")
"""Ask that numerator over denominator lies in a range, as a geometric mean over seeds."""


def _steps(
    form: Form,
    strict_form: Form,
    quantity: Quantity,
    unit: str,
    *,
    slack: float = 0.0,
    strict: bool = False,
    paper_value: PaperValue | None = None,
) -> Criterion:
    asked = strict_form if strict else form
    return _bound(asked, quantity, slack, unit, paper_value=paper_value)


ordering = partial(_steps, "ordering", "strict_ordering")
"""Ask that numbers of unlike things ascend, each step by minus the `slack` at least; `strict`: by
more than that."""
monotone = partial(_steps, "monotone", "strict_monotone")
"""Ask that numbers along one axis ascend, otherwise as `ordering`."""
