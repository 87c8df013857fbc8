"""Cohorts: named sets of seeds. `first` is what a grid lists; nobody picks the seeds of others."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from harness.errors import SpecError

FIRST = "first"
SEED_BITS = 31


@dataclass(frozen=True, kw_only=True, slots=True)
class Cohort:
    """Further seeds for every point of a grid that has a `seed`, declared before they are run."""

    number: int
    """From 1, without gaps: a cohort is never skipped or dropped."""
    num_seeds: int
    since: str
    """The commit before the one that declares it; no record up to there has one of its seeds."""

    def __post_init__(self) -> None:
        if self.number < 1 or self.num_seeds < 1:
            raise SpecError(
                f"cohort {self.number} of {self.num_seeds} seeds: both need to be at least 1"
            )

    @property
    def name(self) -> str:
        return f"cohort-{self.number}"

    def seeds(self, paper: str) -> list[int]:
        """Return its seeds, the same for every experiment of a paper so that trials pair."""
        return [cohort_seed(paper, self.name, index) for index in range(self.num_seeds)]


def cohort_seed(paper: str, cohort: str, index: int) -> int:
    """Return the first 31 bits of the SHA-256 of `paper cohort index`.

    >>> cohort_seed("supar", "cohort-1", 0)
    1521073141
    """
    text = f"{paper} {cohort} {index}"
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) >> (32 - SEED_BITS)


def check_numbers(cohorts: tuple[Cohort, ...], *, where: str) -> None:
    """Raise SpecError unless cohorts are numbered 1, 2, ... in order."""
    numbers = [cohort.number for cohort in cohorts]
    if numbers != list(range(1, len(cohorts) + 1)):
        raise SpecError(f"{where}: cohorts are numbered {numbers}, need 1, 2, ... with no gap")
