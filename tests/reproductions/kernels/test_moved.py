"""Bytes of plain torch, counted: by hand, and never fewer than a call cannot do without."""

from __future__ import annotations

import pytest
import torch

from reproductions.kernels.cases import CASES, Case, case_of
from reproductions.kernels.floors.moved import MovedBytes, plain_bytes


@pytest.fixture
def bands() -> None:
    """Leave allocations as they are: here nothing is allocated."""


def test_operands_and_results_count_and_views_do_not() -> None:
    x, y = torch.ones(10), torch.ones(10)
    with MovedBytes() as moved:
        z = x.view(2, 5) + y.view(2, 5)
        z.mul_(2.0)
    # Two read and one written; then one read, and written in place.
    assert moved.total == (3 + 2) * 40


def test_a_count_of_same_signs_by_hand() -> None:
    """Both signs, their product, whether it is positive, in a byte each, and how often."""
    call = case_of("sign_ops", "a ResNet, count")
    assert plain_bytes(call, "float32") == pytest.approx((2 + 2 + 3 + 1.5) * 11_173_962 * 4)


@pytest.mark.parametrize("case", {c.kernel: c for c in CASES}.values(), ids=lambda c: c.kernel)
def test_plain_torch_moves_more_than_a_call_needs(case: Case) -> None:
    for precision in case.precisions:
        found = plain_bytes(case, precision)
        assert found is not None and found > case.work(precision).bytes
