"""A pilot of two phases on digits, at seeds that the run does not use."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import PILOT_SEEDS, Experiment, Profile
from reproductions.fg2u.condensing import experiment as digits

SEEDS = PILOT_SEEDS[1:3]
"""Those of the pilots of Table 1."""
PHASES: tuple[tuple[digits.Method, digits.Second], ...] = (
    ("hessian-free", "none"),
    ("hessian-free", "hessian-free"),
    ("hessian-free", "rgu"),
    ("rgu", "none"),
)


def phases_grid(profile: Profile) -> Iterator[digits.Condensation]:
    """Yield phases on digits by Hessian-free and by exact gradients."""
    for number in SEEDS if profile == "cpu" else ():
        yield digits.first_phase("cpu", "hessian-free", seed=number)
        for method, second in PHASES[1:]:
            yield digits.point("cpu", method, second, seed=number)
    if profile == "smoke":
        yield digits.first_phase("smoke", "hessian-free", seed=PILOT_SEEDS[0])


phases = Experiment(
    "fg2u/pilot_phases",
    version=1,
    params=digits.Condensation,
    grid=phases_grid,
    run="trial:condensing_rows",
    needs=digits.runs.needs,
    estimate=digits.estimate,
    address=("method", "second", "steps", "seed"),
    stands_in=digits.stands_in,
)
