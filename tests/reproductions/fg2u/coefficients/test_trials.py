"""Trials on coefficients: that methods go to the same place, what they start from, what is kept."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from harness.declare import Status
from harness.errors import SpecError
from reproductions.fg2u.coefficients.dry_run import of_inverse
from reproductions.fg2u.coefficients.experiment import (
    CASES,
    Forward,
    Inverse,
    Name,
    forward_grid,
    inverse_grid,
    inverse_of,
)
from reproductions.fg2u.coefficients.forward import forward_rows, trained
from reproductions.fg2u.coefficients.inverse import (
    coefficient,
    initial,
    inverse_rows,
    on_grid,
    project,
    with_net,
)
from reproductions.fg2u.models.exact import data_axes, exact_solution, observations
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


def test_a_start_depends_on_the_seed_alone_and_lies_in_its_range() -> None:
    for pde in CASES:
        for drawn in ("log", "even"):
            fit = small(pde, "exact", drawn=drawn)
            other = small(pde, "single", drawn=drawn)
            values = [float(coefficient(fit, initial(fit, PDES[pde], s))) for s in range(40)]
            again = [float(coefficient(other, initial(other, PDES[pde], s))) for s in range(40)]
            assert values == again and len(set(values)) == 40
            assert fit.low <= min(values) < max(values) <= fit.high
    net = small("burgers", "pinn")
    assert initial(net, BURGERS, 0).dtype is torch.float32


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


def test_a_start_outside_the_solvers_range_is_refused() -> None:
    with pytest.raises(SpecError, match=r"kdv: coefficient .* outside the solver's stable range"):
        inverse_rows(small("kdv", "single", low=0.5, high=0.5), SEEDED)


def test_a_step_stays_within_the_range() -> None:
    for value, kept in ((-0.3, 1e-6), (5.0, KDV.largest)):
        phi = torch.tensor(value, dtype=torch.float64)
        project(small("kdv", "exact"), KDV, phi)
        assert float(phi) == pytest.approx(kept)
    root = torch.tensor(-0.2, dtype=torch.float64)
    project(small("burgers", "exact"), BURGERS, root)
    assert float(root) == pytest.approx(1e-3)


def test_a_fit_at_the_truth_has_no_misfit_but_the_solvers() -> None:
    fit = small("kdv", "exact", num_points=128, num_steps=1000)
    problem = on_grid(fit, KDV, observations(KDV, 8))
    true = torch.tensor(KDV.true_coefficient, dtype=torch.float64)
    assert float(problem.problem.unroll(true, {})[0]) < 1e-12
    field = problem.field(true)
    assert torch.allclose(field, exact_solution(KDV, *data_axes(KDV)), atol=1e-6)


def test_noise_and_fewer_observations_change_what_is_fitted() -> None:
    base = inverse_rows(small("burgers", "single", outer_steps=1), SEEDED).rows[0]
    for changed in ({"noise": 0.1}, {"side": 3}):
        other = inverse_rows(small("burgers", "single", outer_steps=1, **changed), SEEDED).rows[0]
        assert other["misfit"] != base["misfit"] and other["initial"] == base["initial"]


def test_a_net_is_trained_anew_in_every_outer_step_on_points_of_its_own() -> None:
    fit = small("burgers", "pinn")
    made = with_net(fit, BURGERS, observations(BURGERS, 8), SEEDED)
    first, second = next(made.batches), next(made.batches)
    assert all(torch.equal(a, b) for a, b in zip(first["init"], second["init"], strict=True))
    assert not torch.equal(first["points"].inside, second["points"].inside)
    assert first["points"].inside.shape[:2] == (fit.inner_steps, fit.batch_size)


def test_the_net_moves_the_coefficient_by_the_exact_derivative() -> None:
    from reproductions.fg2u import hypergradient

    fit = small("burgers", "pinn", inner_steps=3)
    made = with_net(fit, BURGERS, observations(BURGERS, 8), SEEDED)
    batch, phi = next(made.batches), initial(fit, BURGERS, 0)
    one = hypergradient("fg2u", num_directions=1)(made.problem, phi, batch).grad
    exact = hypergradient("rgu")(made.problem, phi, batch).grad
    assert float(one) == pytest.approx(float(exact), rel=1e-3)
    assert float(exact) != 0.0


def test_a_training_that_overflows_is_diverged_and_has_no_errors() -> None:
    outcome = inverse_rows(small("burgers", "pinn", inner_lr=1e6, inner_steps=6), SEEDED)
    assert outcome.status is Status.DIVERGED and "inner step" in outcome.note
    row = outcome.rows[0]
    assert row["eps_phi"] is None and row["taken_steps"] == 0 and row["initial"] is not None


def points_of(profile: Any) -> list[Forward]:
    return list(forward_grid(profile))


def test_trainings_are_logged_where_the_paper_has_points() -> None:
    adam = next(p for p in points_of("smoke") if p.optimizer == "adam")
    params = replace(adam, train_steps=200)
    exact = exact_solution(BURGERS, *data_axes(BURGERS))
    found = list(trained(params, SEEDED, exact))
    assert [steps for steps, _, _ in found] == [100, 200]
    assert found[1][2] > found[0][2] > 0.0
    again = list(trained(params, SEEDED, exact))
    assert [error for _, error, _ in found] == [error for _, error, _ in again]


def test_finer_grids_of_the_numerical_solver_err_less() -> None:
    numerical = next(p for p in points_of("smoke") if p.solver == "numerical")
    rows = forward_rows(numerical, SEEDED).rows
    errors = [float(row["eps_u"]) for row in rows]  # type: ignore[arg-type]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 1e-3
    assert [row["reached"] for row in rows] == [False, False, True, True]


def test_the_papers_grid_has_the_papers_settings() -> None:
    fits = list(inverse_grid("paper"))
    single = next(f for f in fits if f.method == "single" and f.pde == "burgers")
    assert (single.outer_steps, single.lr, single.high, single.mu) == (5000, 1e-2, 10.0, 1e-4)
    assert (single.num_points, single.learned, single.side) == (256, "coefficient", 8)
    net = next(f for f in fits if f.method == "pinn" and f.pde == "kdv")
    assert (net.num_layers, net.width, net.batch_size) == (9, 20, 5000)
    assert (net.inner_steps, net.inner_lr, net.lr, net.high) == (1000, 1e-3, 1e-3, 0.01)
    assert {f.train_steps for f in points_of("paper") if f.solver == "pinn"} == {50000}


def test_a_dry_run_counts_the_papers_net_and_no_solver() -> None:
    net, solver = (inverse_of("paper", "burgers", method, seed=0) for method in ("pinn", "single"))
    counted = of_inverse(net)
    # Two inputs, nine layers of 20, one output, with biases.
    assert counted.num_params == counted.expected_num_params == 3 * 20 + 8 * 21 * 20 + 21
    assert counted.num_steps == 5000 * 1000 and counted.step_flops > 0
    assert of_inverse(solver) is None
