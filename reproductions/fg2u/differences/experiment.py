"""(FG)2U-ZO along fixed directions, by the step of its differences, in two precisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of

Dtype = Literal["float32", "float64"]

LAST_EXPONENT: dict[Dtype, int] = {"float32": -8, "float64": -12}
"""Decimal exponent of the smallest step that is taken: below it phi itself hardly moves."""
ONE, TEN = 1, 10
"""Meta variables: one, for which the released grid is meant, and some."""
NUM_STEPS, NUM_DIRECTIONS = 10, 8
PER_DECADE = 2
NUM_SEEDS = 10


def exponents(last: int) -> list[float]:
    """Return decimal exponents of steps, from -1 down.

    >>> exponents(-2)
    [-1.0, -1.5, -2.0]
    """
    return [-1.0 - number / PER_DECADE for number in range(PER_DECADE * (-1 - last) + 1)]


class Steps(Params):
    """Differences of one problem at all their steps."""

    num_meta: int = doc("N, the step sizes that are learned.")
    dtype: Dtype = doc("Precision of the inner run; the derivative is taken in double.")
    last_exponent: int = doc("Decimal exponent of the smallest step mu; the largest is 0.1.")
    num_steps: int = doc("Inner steps T.")
    seed: int = seed("One problem: initial weights, batch and directions.")


def grid(profile: Profile) -> Iterator[Steps]:
    """Yield both numbers of meta variables; at smoke in double and down to 1e-5."""
    if profile == "smoke":
        for num_meta in (ONE, TEN):
            yield Steps(num_meta=num_meta, dtype="float64", last_exponent=-5, num_steps=5, seed=0)
    if profile == "cpu":
        for number in seeds_of(profile, NUM_SEEDS):
            for dtype, last in LAST_EXPONENT.items():
                for num_meta in (ONE, TEN):
                    yield Steps(
                        num_meta=num_meta, dtype=dtype, last_exponent=last, num_steps=NUM_STEPS,
                        seed=number,
                    )  # fmt: skip


differences = Experiment(
    "fg2u/differences",
    version=2,
    params=Steps,
    grid=grid,
    run="trial:difference_rows",
    needs=Needs(data=("digits",)),
    estimate=lambda steps: Estimate(seconds=0.2 - 0.2 * steps.last_exponent, memory_bytes=2**30),
    address=("num_meta", "dtype", "seed"),
)
