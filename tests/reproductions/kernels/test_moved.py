"""Bytes of plain torch, counted: by hand, and never fewer than a call cannot do without."""

from __future__ import annotations

import pytest
import torch

from reproductions.kernels.cases import CASES, Case
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


@pytest.mark.parametrize("case", {c.kernel: c for c in CASES}.values(), ids=lambda c: c.kernel)
def test_plain_torch_moves_more_than_a_call_needs(case: Case) -> None:
    for precision in case.precisions:
        found = plain_bytes(case, precision)
        assert found is not None and found > case.work(precision).bytes
