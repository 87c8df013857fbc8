"""Differences against derivatives, and every claim on three tables."""

from __future__ import annotations

from typing import Any

import pandas as pd
import torch

from harness.data.bundled import digits
from harness.declare.profiles import Profile
from harness.declare.verdict import Word
from reproductions.fg2u.differences.abl_mu import task
from reproductions.fg2u.differences.experiment import LAST_EXPONENT, ONE, TEN, Steps, exponents
from reproductions.fg2u.differences.trial import (
    difference_rows,
    estimate,
    kinds_of,
)
from reproductions.fg2u.models.digits import learned_rates
from tests.patches import patched
from tests.reproductions.fg2u.golden import DOUBLED
from tests.reproductions.fg2u.trials import BareContext, Case
from tests.verdicts import controlled


def test_estimates_of_one_seed_have_the_same_directions() -> None:
    """Differences of so linear a function are its derivative along them."""
    instance = learned_rates(digits(), num_meta=10, num_steps=10, seed=0)
    slopes = estimate(instance, "fg2u", "rademacher", 8, 5)
    near = estimate(instance, "fg2u-zo", "rademacher", 8, 5, mu=1e-5, scheme="central")
    torch.testing.assert_close(near, slopes, rtol=1e-6, atol=1e-9)
    other = estimate(instance, "fg2u", "rademacher", 8, 6)
    assert not torch.allclose(other, slopes, rtol=1e-2)


def table_of(case: Case, profile: Profile = "cpu") -> pd.DataFrame:
    """Holds: truncation and rounding as they should be. Fails: orders swap, rounding is flat."""
    holds = case == "holds"
    rows = [
        {
            **{"num_meta": num_meta, "dtype": dtype, "num_steps": 10, "scheme": scheme},
            **{"directions": kind, "log10_mu": x, "seed": seed, "num_directions": count},
            "relative_error": (1 + 0.1 * seed) * error(dtype, scheme, kind, 10**x, holds),
            "gradient_error": 1e-6 if holds else 1e-2,
        }
        for seed in range(5)
        for dtype, last in LAST_EXPONENT.items()
        for num_meta in (ONE, TEN)
        for kind, count in kinds_of(num_meta)
        for scheme in ("forward", "central")
        for x in exponents(last)
    ]
    return pd.DataFrame(rows)[task.table.names]


def error(dtype: str, scheme: str, kind: str, mu: float, holds: bool) -> float:
    second = (scheme == "central" or kind == "gauss-grid") == holds
    rounding = {"float32": 6e-8, "float64": 1e-16}[dtype]
    return (mu**2 if second else mu) + (rounding / mu if holds else rounding)


def test_checks_see_central_differences_that_are_divided_wrongly() -> None:
    def words() -> dict[str, Word]:
        rows: list[dict[str, Any]] = []
        for num_meta in (ONE, TEN):
            params = Steps(
                num_meta=num_meta, dtype="float64", last_exponent=-5, num_steps=3, seed=0
            )
            found = difference_rows(params, BareContext())
            rows += [{**params.to_json(), **row} for row in found]
        frame = pd.DataFrame(rows)
        exact = [claim for claim in task.claims if claim.scope.grade == "exact"]
        return {c.id: controlled(c, frame, seed="seed").word for c in exact}

    assert set(words().values()) == {Word.HOLDS}
    with patched(DOUBLED):
        broken = {name for name, word in words().items() if word is Word.FAILS}
    assert broken == {"central_is_second_order", "grid_is_near_the_gradient"}
