"""The convex problem against autograd, SciPy and sampling; and the claims on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import minimize

from harness.declare.task import Task
from reproductions.lisa import Lisa
from reproductions.lisa.theory.experiment import Run
from reproductions.lisa.theory.theory import task
from reproductions.lisa.theory.trial import (
    BlockedWeights,
    Problem,
    find_optimum,
    log_places,
    regularised,
    suboptimality,
)
from tests.grids import grid
from tests.reproductions.lisa.made import Case

DECAY, BATCH = 0.1, 8
TASKS = (task,)


@pytest.fixture(scope="module")
def problem() -> Problem:
    generator = torch.Generator().manual_seed(0)
    x_ND = torch.randn(60, 6, generator=generator, dtype=torch.float64)
    sign_N = (x_ND[:, 0] + torch.randn(60, generator=generator, dtype=torch.float64)).sign()
    return Problem(x_ND=x_ND, sign_N=sign_N)


def test_gradients_and_hessian_are_autograd_s(problem: Problem) -> None:
    w_D = torch.linspace(-1.0, 1.0, 6, dtype=torch.float64, requires_grad=True)
    (gradient_D,) = torch.autograd.grad(problem.losses(w_D).mean(), w_D)
    torch.testing.assert_close(problem.gradients(w_D.detach()).mean(0), gradient_D)
    hessian_DD = torch.autograd.functional.hessian(lambda w: problem.losses(w).mean(), w_D)
    torch.testing.assert_close(problem.hessian(w_D.detach()), hessian_DD)


def test_the_optimum_is_scipy_s(problem: Problem) -> None:
    optimum = find_optimum(problem, decay=DECAY, batch_size=BATCH)
    found = minimize(
        lambda w: regularised(problem, torch.from_numpy(w), optimum.penalty_D),
        np.zeros(6), method="BFGS", options={"gtol": 1e-9},
    )  # fmt: skip
    assert optimum.value == pytest.approx(found.fun, abs=1e-12)
    assert optimum.w_D.numpy() == pytest.approx(found.x, abs=1e-5)


def test_adamw_s_expected_step_vanishes_at_the_optimum(problem: Problem) -> None:
    """m + decay sqrt(v) w = 0, both moments taken over many drawn batches."""
    optimum = find_optimum(problem, decay=DECAY, batch_size=BATCH)
    rows = torch.randint(60, (40_000, BATCH), generator=torch.Generator().manual_seed(1))
    batches = problem.gradients(optimum.w_D)[rows].mean(1)
    m_D, v_D = batches.mean(0), batches.square().mean(0)
    error_D = batches.std(0) / len(rows) ** 0.5
    assert ((m_D + DECAY * v_D.sqrt() * optimum.w_D).abs() < 4.0 * error_D).all()
    torch.testing.assert_close(DECAY * v_D.sqrt(), optimum.penalty_D, rtol=0.02, atol=0.0)


def test_training_closes_in_on_the_optimum_and_stays_in_the_ball(problem: Problem) -> None:
    optimum = find_optimum(problem, decay=DECAY, batch_size=BATCH)
    run = Run(policy="keep_all", decay=DECAY, seed=0, steps=3000, batch_size=BATCH)
    lisa = Lisa(BlockedWeights(6, 3), gamma=1, period=5, seed=0, policy="keep_all")
    gaps = suboptimality(problem, optimum, lisa, run, seed=0)
    assert gaps.min() > 0.0
    assert gaps[-500:].mean() < 0.1 * gaps[0]
    small = Lisa(BlockedWeights(6, 3), gamma=1, period=5, seed=0)
    suboptimality(problem, optimum, small, replace(run, steps=300, radius=0.5), seed=0)
    assert torch.linalg.vector_norm(small.model.vector()) <= 0.5 + 1e-12  # type: ignore[operator]


def table_of(_: Task, case: Case) -> pd.DataFrame:
    """Holds: every policy falls like T^-0.6. Fails: like T^-0.4, below a wrong optimum."""
    fall, below = (-0.6, 0.0) if case == "holds" else (-0.4, 1.0)
    policies, places = ("keep_all", "drop_refrozen", "reset_all"), log_places(20_000, 12)
    rows = grid(policy=policies, decay=(0.1, 0.01), num_steps=places, seed=range(3))
    gap = rows["num_steps"] ** fall
    return rows.assign(
        gap=gap - below, mean_gap=(1 + 0.01 * rows["seed"]) * gap,
        optimum_gradient=1e-11 if case == "holds" else 1e-3, optimum_norm=9.0,
    )  # fmt: skip
