"""Could chance say so? How often a claim reads REPRODUCED with its labels shuffled.

Were there no effect, the levels of the factor that a claim compares could change places within
each seed, whole blocks at a time. The share of such relabellings that would read REPRODUCED is
the claim's chance rate: a permutation test of the verdict itself, choices of hyperparameters in
the view included, since tables are made anew from relabelled runs.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.scope import Factor
from harness.declare.statistics import InvalidQuantity, MissingRows
from harness.declare.task import Task
from harness.declare.verdict import Word, decide, samples_per_seed
from harness.errors import HarnessError
from harness.canonical import digest
from harness.provenance.seals import claim_code
from harness.store.meta import TOO_FEW, Chance

if TYPE_CHECKING:
    import pandas as pd

NUM_DRAWS = 2000
"""Relabellings of all seeds together, where there are more than can be enumerated."""
PER_SEED = 32
"""Relabellings of one seed that are drawn from, where it has more."""
FEWEST = 20
"""With fewer relabellings a share says nothing."""
NO_SEEDS = "it has no seeds to relabel within"
WEAK_ABOVE = 0.1
"""A claim that chance alone reproduces more often than this is weak."""
DIGITS = 1e-6
"""To which numbers count as equal: a stored table has nine digits."""

Relabelling = dict[object, object]
"""From each level to the one whose name it takes."""
Frames = Mapping[str, "pd.DataFrame"]
Samples = list[list[float]]
Measure = Callable[[tuple[int, ...]], Samples | None]
"""From the number of each seed's relabelling to what is measured."""


def chance_of(claim: Claim, shuffle: Shuffle) -> Chance:
    """Return how often chance alone would reproduce a claim.

    shuffle: the relabellings of what the claim compares.
    """
    made = chance_code(shuffle.task, claim)
    if claim.scope.deterministic or shuffle.problem:
        return Chance(code=made, reason=shuffle.problem or NO_SEEDS)
    words = shuffle.verdicts(claim)
    if len(words) < FEWEST:
        return Chance(code=made, num_relabellings=len(words), reason=TOO_FEW)
    rate = sum(word == Word.REPRODUCED for word in words) / len(words)
    return Chance(code=made, rate=rate, num_relabellings=len(words))


def chance_code(task: Task, claim: Claim) -> str:
    """Return a digest of what a claim's chance rate follows from, beside its runs."""
    factor, criterion = claim.scope.factor, claim.criterion
    asked = [
        criterion.form,
        str(criterion.threshold),
        criterion.tolerance,
        criterion.at_least_of or 0,
    ]
    compared = [] if factor is None else [factor.column, list(factor.levels), factor.mirrored]
    return digest([claim_code(task, claim), asked, compared])[:32]


class Shuffle:
    """The relabellings of a table by one factor; what several claims compare is made once."""

    def __init__(self, task: Task, table: pd.DataFrame, runs: Frames, factor: Factor) -> None:
        """Prepare to relabel; `problem` says why it cannot be done, where it cannot.

        table: the task's, of one cohort; runs: the long tables that it is made from.
        """
        self.task, self.table, self.runs, self.factor = task, table, runs, factor
        self._made: dict[tuple[int, ...], pd.DataFrame | None] = {}
        self.seed = task.table.seed or ""
        self.problem = self._prepare()

    def _prepare(self) -> str:
        table, column = self.table, self.factor.column
        if not self.seed:
            return NO_SEEDS
        if column not in table:
            return f"the table has no column {column}"
        wanted = self.factor.levels
        there = list(table[column].dropna().unique())
        self.levels = [level for level in there if not wanted or level in wanted]
        self.seeds = sorted(table[self.seed].unique())
        parts = [part[column] for _, part in table.groupby(self.seed)]
        if len(self.levels) < 2 or any(not set(part) >= set(self.levels) for part in parts):
            return f"not every seed has the same two or more levels of {column}"
        self.per_seed = [self._relabellings(number) for number in range(len(self.seeds))]
        if math.prod(map(len, self.per_seed)) <= FEWEST:
            return TOO_FEW
        # A view may choose hyperparameters: it must choose anew, from relabelled runs.
        named = [frame for frame in self.runs.values() if {column, self.seed} <= set(frame)]
        self.from_runs = self.task.table.make is not None and bool(named)
        self.is_separable = not self.from_runs or self._follows_seed_by_seed()
        return ""

    def verdicts(self, claim: Claim) -> list[Word]:
        """Return the verdicts under the relabellings that change what is measured."""
        original = samples_per_seed(claim, self.table, self.seed)
        measure = self._one_by_one(claim) if self.is_separable else self._together(claim)
        found = []
        for choice in self._choices():
            samples = measure(choice)
            if samples is not None and not _same(samples, original):
                found.append(_word(claim, samples))
        return found

    def _relabellings(self, number: int) -> list[Relabelling]:
        """Return the relabellings of one seed, the one that changes nothing first."""
        if self.factor.mirrored:
            return [{level: level for level in self.levels}, {v: -v for v in self.levels}]
        if math.factorial(min(len(self.levels), 10)) <= PER_SEED:
            orders = list(itertools.permutations(self.levels))
        else:
            dice = random.Random(f"{self.task.id}:{self.factor.column}:{number}")
            drawn = (tuple(dice.sample(self.levels, len(self.levels))) for _ in range(PER_SEED))
            orders = list(dict.fromkeys([tuple(self.levels), *drawn]))
        return [dict(zip(self.levels, order, strict=True)) for order in orders]

    def _choices(self) -> Sequence[tuple[int, ...]]:
        """Return which relabelling each seed takes: all combinations, or some that are drawn."""
        sizes = [len(each) for each in self.per_seed]
        if math.prod(sizes) <= NUM_DRAWS:
            return list(itertools.product(*map(range, sizes)))
        dice = random.Random(f"{self.task.id}:{self.factor.column}")
        return [tuple(dice.randrange(size) for size in sizes) for _ in range(NUM_DRAWS)]

    def _follows_seed_by_seed(self) -> bool:
        """Whether the table of a seed follows from the runs of that seed alone."""
        from pandas.testing import assert_frame_equal

        try:
            for seed in self.seeds:
                part = self._part(self.table, seed)
                made = self._part(self._make(self._runs_of(seed)), seed).astype(part.dtypes)
                assert_frame_equal(part, made, rtol=DIGITS)
        except (AssertionError, HarnessError, LookupError, ValueError):
            # It wants them all: a view that is broken raises on all of them again.
            return False
        return True

    def _one_by_one(self, claim: Claim) -> Measure:
        """Return a function that joins what each seed measures, which is measured once."""
        measured = [
            [self._measured(claim, self._of_seed(place, index)) for index in range(len(group))]
            for place, group in enumerate(self.per_seed)
        ]

        def joined(choice: tuple[int, ...]) -> Samples | None:
            found = [measured[place][index] for place, index in enumerate(choice)]
            samples = [each[0] for each in found if each is not None]
            return samples if len(samples) == len(found) else None

        return joined

    def _of_seed(self, place: int, index: int) -> pd.DataFrame | None:
        """Return the table of one seed under one of its relabellings."""
        seed, relabelling = self.seeds[place], self.per_seed[place][index]

        def table() -> pd.DataFrame:
            if not self.from_runs:
                return self._relabelled(self._part(self.table, seed), relabelling)
            frames = {n: self._relabelled(f, relabelling) for n, f in self._runs_of(seed).items()}
            # Runs that have no seed are in the table of every one.
            return self._part(self._make(frames), seed)

        return self._once((place, index), table)

    def _together(self, claim: Claim) -> Measure:
        """Return a function that measures where all seeds make one table."""
        import pandas as pd

        def of_all(choice: tuple[int, ...]) -> pd.DataFrame:
            frames = {}
            for name, frame in self.runs.items():
                parts = [
                    self._relabelled(self._part(frame, seed), group[index])
                    for seed, group, index in zip(self.seeds, self.per_seed, choice, strict=True)
                ]
                frames[name] = pd.concat(parts) if self.seed in frame else frame
            return self._make(frames)

        return lambda choice: self._measured(claim, self._once(choice, lambda: of_all(choice)))

    def _measured(self, claim: Claim, table: pd.DataFrame | None) -> Samples | None:
        """Return a table's samples; None where relabelled rows do not make one."""
        if table is None:
            return None
        try:
            return samples_per_seed(claim, table, self.seed)
        except InvalidQuantity:
            return [[math.nan]] * len(self.seeds)
        except MissingRows:
            return None

    def _once(
        self, name: tuple[int, ...], table: Callable[[], pd.DataFrame]
    ) -> pd.DataFrame | None:
        """Return a table that is made once, None where the view makes none of such runs."""
        if name not in self._made:
            try:
                self._made[name] = table()
            except MissingRows:
                self._made[name] = None
        return self._made[name]

    def _make(self, frames: Frames) -> pd.DataFrame:
        make = self.task.table.make
        table = make(frames) if make is not None else next(iter(frames.values()))
        return table[self.task.table.names]

    def _runs_of(self, seed: object) -> dict[str, pd.DataFrame]:
        return {name: self._part(frame, seed) for name, frame in self.runs.items()}

    def _part(self, frame: pd.DataFrame, seed: object) -> pd.DataFrame:
        if self.seed not in frame:
            return frame
        return frame[frame[self.seed] == seed].reset_index(drop=True)

    def _relabelled(self, frame: pd.DataFrame, relabelling: Relabelling) -> pd.DataFrame:
        column = self.factor.column
        if column not in frame or self.seed not in frame:
            return frame
        renamed = frame.assign(**{column: frame[column].map(lambda v: relabelling.get(v, v))})
        if self.factor.mirrored and any(k != v for k, v in relabelling.items()):
            # A walk is read from one end to the other.
            renamed = renamed.iloc[::-1].reset_index(drop=True)
        return renamed.astype({column: frame[column].dtype})


def _word(claim: Claim, samples: Samples) -> Word:
    if any(math.isnan(value) for sample in samples for value in sample):
        return Word.INCONCLUSIVE
    try:
        return decide(claim, samples).word
    except InvalidQuantity:
        return Word.INCONCLUSIVE


def _same(left: Samples, right: Samples) -> bool:
    return len(left) == len(right) and all(
        len(one) == len(other)
        and all(
            math.isclose(a, b, rel_tol=DIGITS, abs_tol=1e-12)
            for a, b in zip(one, other, strict=True)
        )
        for one, other in zip(left, right, strict=True)
    )
