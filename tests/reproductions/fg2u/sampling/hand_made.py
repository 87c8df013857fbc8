"""Hand-made noise of estimates, in which each claim plainly holds, or plainly fails."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from harness.declare.profiles import Profile
from harness.declare.task import Task
from reproductions.fg2u.method.noise import expected_square
from reproductions.fg2u.sampling import abl_distribution
from reproductions.fg2u.sampling.experiment import (
    COORDINATE,
    DEEP_STEPS,
    FEW,
    LADDER,
    MAIN,
    NUM_STEPS,
    RADEMACHER,
    SAMPLED,
    ZERO_ORDER,
)
from reproductions.fg2u.sampling.table import KINDS
from tests.reproductions.fg2u.trials import Case

BIASED = {"trgu-2": 0.5, "trgu-5": 0.7, "trgu-10": 0.9, "neumann-20": 0.8, "hessian-free": 0.3}


def table_of(task: Task, case: Case, profile: Profile = "cpu") -> pd.DataFrame:
    """Holds: all is as predicted. Fails: errors do not fall with b, and kinds and methods swap."""
    holds = case == "holds"
    rows: list[dict[str, Any]] = []
    for seed in range(5):
        for side, num_steps in ((FEW, NUM_STEPS), (MAIN, NUM_STEPS), (MAIN, DEEP_STEPS)):
            place = {"side": side, "num_steps": num_steps, "num_meta": 10 * side**2, "seed": seed}
            rows += [place | row for row in drawn(10 * side**2, seed, holds)]
            rows += [place | row for row in biased(seed, holds)]
    found = pd.DataFrame(rows)
    if task is abl_distribution.task:
        found = found[found["method"].isin(KINDS)]
    return found[task.table.names].reset_index(drop=True)


def drawn(num_meta: int, seed: int, holds: bool) -> list[dict[str, Any]]:
    found = []
    for method in (*KINDS, ZERO_ORDER):
        for b in (b for b in LADDER if method != COORDINATE or b < num_meta):
            expected = expected_square(SAMPLED[method], num_meta, b)
            # The order of the kinds is turned round by squares above 1 alone.
            wrong = 1 + 2 * (method == RADEMACHER) + 9 * (method == COORDINATE)
            square = expected * (1 + 0.01 * seed) if holds else 100.0 * wrong
            exact = 0.0 if method == COORDINATE else 0.01
            found.append(
                {
                    **{"method": method, "num_directions": b, "relative_error": square**0.5},
                    "square_gap": (exact if holds else 0.3) * (1 + seed),
                    "cosine": math.sqrt(b / (b + num_meta - 1)) * (1 if holds else 0.8),
                    "least_cosine": 1e-4 if holds else -0.1,
                    "mean_error": (exact if holds else 9.0) * (1 + 0.01 * seed),
                    **{"num_estimates": 2048 // b, "equal_directions": None, "seconds": 0.01 * b},
                }
            )
    return found


def biased(seed: int, holds: bool) -> list[dict[str, Any]]:
    return [
        {
            **{"method": method, "num_directions": 0, "relative_error": 0.5, "square_gap": None},
            "cosine": (cosine if holds else 1 - cosine) + 0.001 * seed,
            **{"least_cosine": 0.1, "mean_error": None, "num_estimates": 1},
            **{"equal_directions": 100.0, "seconds": 0.1},
        }
        for method, cosine in BIASED.items()
    ]
