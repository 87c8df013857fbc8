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

from harness.declare.claims import Claim, Factor
from harness.declare.statistics import InvalidQuantity, MissingRows
from harness.declare.task import Task
from harness.declare.verdict import Word, decide, samples_per_seed
from harness.provenance.canonical import digest
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
WEAK_ABOVE = 0.1
"""A claim that chance alone reproduces more often than this is weak."""
DIGITS = 1e-6
"""To which numbers count as equal: a stored table has nine digits."""

Relabelling = dict[object, object]
"""From each level to the one whose name it takes."""
Frames = Mapping[str, "pd.DataFrame"]
Samples = list[list[float]]


def chance_of(task: Task, claim: Claim, table: pd.DataFrame, runs: Frames) -> Chance:
    """Return how often chance alone would reproduce a claim that names its factor.

    table: the task's, of one cohort; runs: the long tables that it is made from.
    """
    made = chance_code(task, claim)
    factor, seed = claim.scope.factor, task.table.seed
    assert factor is not None
    if claim.scope.deterministic or seed is None:
        return Chance(code=made, reason="it has no seeds to relabel within")
    shuffle = _Shuffle(task, claim, table, runs, seed, factor)
    if shuffle.problem:
        return Chance(code=made, reason=shuffle.problem)
    words = shuffle.verdicts()
    if len(words) < FEWEST:
        return Chance(code=made, num_relabellings=len(words), reason=TOO_FEW)
    rate = sum(word == Word.REPRODUCED for word in words) / len(words)
    return Chance(code=made, rate=rate, num_relabellings=len(words))


def chance_code(task: Task, claim: Claim) -> str:
    """Return a digest of what a claim's chance rate follows from, beside its runs."""
    factor, criterion = claim.scope.factor, claim.criterion
    asked = [criterion.form, str(criterion.threshold), criterion.tolerance]
    compared = [] if factor is None else [factor.column, list(factor.levels), factor.mirrored]
    return digest([claim_code(task, claim), asked, compared])[:32]


class _Shuffle:
    """The relabellings of one claim, and what it would measure under each."""

    def __init__(
        self,
        task: Task,
        claim: Claim,
        table: pd.DataFrame,
        runs: Frames,
        seed: str,
        factor: Factor,
    ) -> None:
        self.task, self.claim, self.table, self.seed = task, claim, table, seed
        self.factor, self.runs = factor, runs
        self.problem = ""
        if factor.column not in table:
            self.problem = f"the table has no column {factor.column}"
            return
        there = list(table[factor.column].dropna().unique())
        self.levels = [level for level in there if not factor.levels or level in factor.levels]
        self.seeds = sorted(table[seed].unique())
        parts = [part[factor.column] for _, part in table.groupby(seed)]
        if len(self.levels) < 2 or any(not set(part) >= set(self.levels) for part in parts):
            self.problem = f"not every seed has the same two or more levels of {factor.column}"
            return
        self.per_seed = [self._relabellings(number) for number in range(len(self.seeds))]
        if math.prod(map(len, self.per_seed)) <= FEWEST:
            self.problem = TOO_FEW
            return
        # A view may choose hyperparameters: it must choose anew, from relabelled runs.
        named = [frame for frame in runs.values() if {factor.column, seed} <= set(frame.columns)]
        self.from_runs = task.table.make is not None and bool(named)

    def verdicts(self) -> list[Word]:
        """Return the verdicts under the relabellings that change what is measured."""
        measure = self._one_by_one() if self._is_separable() else self._together
        original = samples_per_seed(self.claim, self.table, self.seed)
        found = []
        for choice in self._choices():
            samples = measure(choice)
            if samples is not None and not _same(samples, original):
                found.append(self._word(samples))
        return found

    def _word(self, samples: Samples) -> Word:
        if any(math.isnan(value) for sample in samples for value in sample):
            return Word.INCONCLUSIVE
        try:
            return decide(self.claim, samples).word
        except InvalidQuantity:
            return Word.INCONCLUSIVE

    def _relabellings(self, number: int) -> list[Relabelling]:
        """Return the relabellings of one seed, the one that changes nothing first."""
        if self.factor.mirrored:
            return [{level: level for level in self.levels}, {v: -v for v in self.levels}]
        if math.factorial(min(len(self.levels), 10)) <= PER_SEED:
            orders = list(itertools.permutations(self.levels))
        else:
            dice = random.Random(f"{self.task.id}:{self.claim.id}:{number}")
            drawn = (tuple(dice.sample(self.levels, len(self.levels))) for _ in range(PER_SEED))
            orders = list(dict.fromkeys([tuple(self.levels), *drawn]))
        return [dict(zip(self.levels, order, strict=True)) for order in orders]

    def _choices(self) -> Sequence[tuple[int, ...]]:
        """Return which relabelling each seed takes: all combinations, or some that are drawn."""
        sizes = [len(each) for each in self.per_seed]
        if math.prod(sizes) <= NUM_DRAWS:
            return list(itertools.product(*map(range, sizes)))
        dice = random.Random(f"{self.task.id}:{self.claim.id}")
        return [tuple(dice.randrange(size) for size in sizes) for _ in range(NUM_DRAWS)]

    def _is_separable(self) -> bool:
        """Whether the table of a seed follows from the runs of that seed alone."""
        if not self.from_runs:
            return True
        from pandas.testing import assert_frame_equal

        try:
            for seed in self.seeds:
                part, made = self._part(self.table, seed), self._made(self._runs_of(seed))
                made = made.reset_index(drop=True).astype(part.dtypes)
                assert_frame_equal(part, made, rtol=DIGITS)
        except Exception:  # noqa: BLE001 - whatever a view raises on one seed: it wants them all
            return False
        return True

    def _one_by_one(self) -> Callable[[tuple[int, ...]], Samples | None]:
        """Return a function that joins what each seed measures, which is measured once."""
        measured: list[list[list[float] | None]] = []
        for seed, group in zip(self.seeds, self.per_seed, strict=True):
            measured.append([self._of_seed(seed, each) for each in group])

        def joined(choice: tuple[int, ...]) -> Samples | None:
            samples = [measured[place][index] for place, index in enumerate(choice)]
            return None if any(each is None for each in samples) else samples  # type: ignore[return-value]

        return joined

    def _of_seed(self, seed: object, relabelling: Relabelling) -> list[float] | None:
        if self.from_runs:
            frames = {n: self._relabelled(f, relabelling) for n, f in self._runs_of(seed).items()}
            samples = self._measured(lambda: self._made(frames))
        else:
            samples = self._measured(
                lambda: self._relabelled(self._part(self.table, seed), relabelling)
            )
        return None if samples is None else samples[0]

    def _together(self, choice: tuple[int, ...]) -> Samples | None:
        """Return what is measured where all seeds make one table."""
        import pandas as pd

        frames = {}
        for name, frame in self.runs.items():
            parts = [
                self._relabelled(self._part(frame, seed), group[index])
                for seed, group, index in zip(self.seeds, self.per_seed, choice, strict=True)
            ]
            frames[name] = pd.concat(parts) if self.seed in frame.columns else frame
        return self._measured(lambda: self._made(frames))

    def _measured(self, make: Callable[[], pd.DataFrame]) -> Samples | None:
        """Return a table's samples; None where relabelled rows do not make one."""
        try:
            return samples_per_seed(self.claim, make(), self.seed)
        except InvalidQuantity:
            return [[math.nan]] * len(self.seeds)
        except MissingRows:
            return None
        except Exception:  # noqa: BLE001 - rows that no run would give
            return None

    def _made(self, frames: Frames) -> pd.DataFrame:
        make = self.task.table.make
        table = make(frames) if make is not None else next(iter(frames.values()))
        return table[self.task.table.names]

    def _runs_of(self, seed: object) -> dict[str, pd.DataFrame]:
        return {name: self._part(frame, seed) for name, frame in self.runs.items()}

    def _part(self, frame: pd.DataFrame, seed: object) -> pd.DataFrame:
        if self.seed not in frame.columns:
            return frame
        return frame[frame[self.seed] == seed].reset_index(drop=True)

    def _relabelled(self, frame: pd.DataFrame, relabelling: Relabelling) -> pd.DataFrame:
        column = self.factor.column
        if column not in frame.columns or self.seed not in frame.columns:
            return frame
        renamed = frame.assign(**{column: frame[column].map(lambda v: relabelling.get(v, v))})
        if self.factor.mirrored and any(k != v for k, v in relabelling.items()):
            # A walk is read from one end to the other.
            renamed = renamed.iloc[::-1].reset_index(drop=True)
        return renamed.astype({column: frame[column].dtype})


def _same(left: Samples, right: Samples) -> bool:
    return len(left) == len(right) and all(
        len(one) == len(other)
        and all(
            math.isclose(a, b, rel_tol=DIGITS, abs_tol=1e-12)
            for a, b in zip(one, other, strict=True)
        )
        for one, other in zip(left, right, strict=True)
    )
