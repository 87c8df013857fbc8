"""Trials on coefficients: that methods go to the same place, what they start from, what is kept."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from harness.declare import Status
from reproductions.fg2u.coefficients.experiment import (
    CASES,
    Inverse,
    Name,
    inverse_of,
)
from reproductions.fg2u.coefficients.inverse import (
    coefficient,
    initial,
    inverse_rows,
    project,
)
from reproductions.fg2u.models.spectral import BURGERS, KDV, PDES
from tests.reproductions.fg2u.trials import BareContext

SEEDED = BareContext(1000)


def small(pde: Name, method: str, **changed: Any) -> Inverse:
    fit = inverse_of("smoke", pde, method, seed=1000)
    if method != "pinn":
        # Twice as many for KdV, whose data are twice as dense in time.
        changed = {"num_points": 64, "num_steps": 200 if pde == "kdv" else 100, **changed}
    return replace(fit, **changed)


@pytest.mark.parametrize("pde", ["burgers", "allen_cahn"])  # by either scheme of differences
def test_methods_through_the_solver_take_the_same_steps(pde: Name) -> None:
    found = [
        inverse_rows(small(pde, method, outer_steps=2), SEEDED).rows[0]
        for method in ("exact", "single", "quadrature")
    ]
    assert len({row["initial"] for row in found}) == 1
    exact = float(found[0]["coefficient"])  # type: ignore[arg-type]
    assert exact != found[0]["initial"]
    for row in found[1:]:
        assert float(row["coefficient"]) == pytest.approx(exact, rel=2e-2)  # type: ignore[arg-type]


@pytest.mark.parametrize("pde", list(CASES))
def test_a_seed_is_one_place_in_a_range_and_in_that_of_its_logarithm(pde: Name) -> None:
    fit = small(pde, "exact")
    by_log, even = (
        float(coefficient(fit, initial(replace(fit, drawn=drawn), PDES[pde], 3)))
        for drawn in ("log", "even")
    )
    share = (even - fit.low) / (fit.high - fit.low)
    assert 0.05 < share < 0.95
    assert math.log(by_log / fit.low) / math.log(fit.high / fit.low) == pytest.approx(share)


@pytest.mark.parametrize("pde", list(CASES))
def test_the_coefficient_is_told_with_its_error_relative_to_the_true_one(pde: Name) -> None:
    fit = small(pde, "single", outer_steps=1, lr=1e-12)
    row: Any = inverse_rows(fit, SEEDED).rows[0]
    assert row["coefficient"] == pytest.approx(row["initial"], rel=1e-6)
    true = PDES[pde].true_coefficient
    assert row["eps_phi"] == pytest.approx(abs(row["initial"] / true - 1.0), rel=1e-5)


def test_a_step_stays_within_the_range() -> None:
    for value, kept in ((-0.3, 1e-6), (5.0, KDV.largest)):
        phi = torch.tensor(value, dtype=torch.float64)
        project(small("kdv", "exact"), KDV, phi)
        assert float(phi) == pytest.approx(kept)
    root = torch.tensor(-0.2, dtype=torch.float64)
    project(small("burgers", "exact"), BURGERS, root)
    assert float(root) == pytest.approx(1e-3)


def test_a_training_that_overflows_is_diverged_and_has_no_errors() -> None:
    outcome = inverse_rows(small("burgers", "pinn", inner_lr=1e6, inner_steps=6), SEEDED)
    assert outcome.status is Status.DIVERGED and "inner step" in outcome.note
    row = outcome.rows[0]
    assert row["eps_phi"] is None and row["taken_steps"] == 0 and row["initial"] is not None
