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


def test_fedsign_s_penalty_by_hand() -> None:
    """In tensors of float32 read and written: the signs 2; their slope, times the weights, its
    sigmoid 2 + 3 + 2; where there is a sign 2 + 3; the gradient 2 + 3 + 2 + 3, taken off 3; in
    float64 3, summed 2."""
    call = case_of("sign_ops", "a ResNet")
    assert plain_bytes(call, "float32") == pytest.approx(32 * 11_173_962 * 4)


@pytest.mark.parametrize("case", {c.kernel: c for c in CASES}.values(), ids=lambda c: c.kernel)
def test_plain_torch_moves_more_than_a_call_needs(case: Case) -> None:
    for precision in case.precisions:
        found = plain_bytes(case, precision)
        assert found is not None and found > case.work(precision).bytes
