"""Groups of draws against the library's own estimates, and closed forms against all of them."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd
import pytest
import torch

from harness.data.bundled import digits
from harness.declare.verdict import Word
from reproductions.fg2u import hypergradient
from reproductions.fg2u.method.directions import Kind
from reproductions.fg2u.method.forward import Directional
from reproductions.fg2u.method.noise import expected_square
from reproductions.fg2u.models.digits import Instance, few_pixels
from reproductions.fg2u.sampling import abl_distribution
from reproductions.fg2u.sampling.draws import Sample, errors, sample
from reproductions.fg2u.sampling.experiment import COORDINATE, GAUSSIAN, RADEMACHER, Draws
from reproductions.fg2u.sampling.trial import sampling_rows
from tests.patches import patched
from tests.reproductions.fg2u.golden import UNSIGNED
from tests.reproductions.fg2u.trials import BareContext
from tests.verdicts import controlled


@pytest.fixture(scope="module")
def instance() -> Instance:
    return few_pixels(digits(), side=1, num_steps=2, seed=0)


@pytest.mark.parametrize("kind", ["rademacher", "gaussian", "coordinate"])
def test_a_group_is_the_library_s_estimate(instance: Instance, kind: Kind) -> None:
    """All draws in one group, with the seed that the library draws for itself."""
    count = 10 if kind == "coordinate" else 6
    method = hypergradient("fg2u", num_directions=count, chunk=4, directions=kind)
    assert isinstance(method, Directional)
    drawn = int(torch.randint(2**62, (1,), generator=torch.Generator().manual_seed(3)))
    whole = method(
        instance.problem, instance.phi, instance.batch, torch.Generator().manual_seed(3)
    ).grad.flatten()
    found = sample(instance, method, kind, count, drawn)
    torch.testing.assert_close(found.terms_KN.mean(0), whole)
    assert errors(found, whole, count).square == pytest.approx(0.0, abs=1e-20)


def test_groups_do_not_cross_permutations() -> None:
    terms = torch.arange(12.0, dtype=torch.float64)[:, None]
    found = errors(Sample(terms_KN=terms, block=6), torch.ones(1, dtype=torch.float64), 4)
    # Means of 0 to 3 and of 6 to 9.
    assert found.num_estimates == 2
    assert found.square == pytest.approx(((1.5 - 1) ** 2 + (7.5 - 1) ** 2) / 2)
    assert found.mean_error == pytest.approx(4.5 - 1)


def test_errors_are_those_of_numbers_by_hand() -> None:
    exact = torch.tensor([1.0, 0.0], dtype=torch.float64)
    terms = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0], [3.0, 0.0]], dtype=torch.float64)
    one = errors(Sample(terms_KN=terms, block=4), exact, 1)
    assert one.square == pytest.approx((1 + 1 + 4 + 4) / 4)
    assert one.cosine == pytest.approx(((0.5 + 0.5 + 1 + 1) / 4) ** 0.5)
    assert (one.least_cosine, one.mean_error) == (pytest.approx(-1.0), pytest.approx(0.0))
    assert errors(Sample(terms_KN=terms, block=4), exact, 2).square == pytest.approx(0.0)


@pytest.mark.parametrize("num_directions", [1, 2])
def test_the_error_of_rademacher_directions_over_all_signs(num_directions: int) -> None:
    exact = torch.tensor([0.3, -1.2, 2.0, 0.1], dtype=torch.float64)
    signs = torch.tensor(list(itertools.product((-1.0, 1.0), repeat=4)), dtype=torch.float64)
    terms = (signs @ exact)[:, None] * signs
    picked = torch.tensor(list(itertools.product(range(16), repeat=num_directions)))
    squares = (terms[picked].mean(1) - exact).square().sum(1) / exact.square().sum()
    assert float(squares.mean()) == pytest.approx(expected_square("rademacher", 4, num_directions))


@pytest.mark.parametrize("num_directions", [1, 2, 3])
def test_the_error_of_coordinates_over_all_subsets(num_directions: int) -> None:
    exact = torch.tensor([0.3, -1.2, 2.0, 0.1], dtype=torch.float64)
    errors_of = []
    for subset in itertools.combinations(range(4), num_directions):
        estimate = torch.zeros_like(exact)
        estimate[list(subset)] = 4 / num_directions * exact[list(subset)]
        errors_of.append(float((estimate - exact).square().sum() / exact.square().sum()))
    mean = sum(errors_of) / len(errors_of)
    assert mean == pytest.approx(expected_square("coordinate", 4, num_directions))


SMALL = Draws(side=1, num_steps=2, num_draws=4, num_timed=1, seed=0)


def checks(rows: list[dict[str, Any]]) -> dict[str, Word]:
    """Return the verdicts of the checks on a trial's rows."""
    table = pd.DataFrame([{**SMALL.to_json(), **row} for row in rows])
    table = table[table["method"].isin([RADEMACHER, GAUSSIAN, COORDINATE])]
    return {
        claim.id: controlled(claim, table, seed="seed").word
        for claim in abl_distribution.task.claims
        if claim.scope.grade == "exact"
    }


def test_checks_fail_where_slopes_lose_their_sign() -> None:
    def run() -> dict[str, Word]:
        return checks([dict(row) for row in sampling_rows(SMALL, BareContext())])

    assert set(run().values()) == {Word.HOLDS}
    with patched(UNSIGNED):
        assert set(run().values()) == {Word.FAILS}
