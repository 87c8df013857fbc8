"""How far tensors lie apart, as a share of what is wanted."""

from __future__ import annotations

import math

import pytest
import torch

from reproductions.kernels.precision import apart


def test_tensors_lie_apart_by_a_share_of_what_is_wanted_of_all_of_them() -> None:
    wanted = [torch.tensor([3.0, 0.0]), torch.tensor([[4.0]], dtype=torch.bfloat16)]
    found = [torch.tensor([3.0, 0.3]), torch.tensor([[4.0]])]
    assert apart(found, wanted) == pytest.approx(0.3 / 5.0)
    assert apart(wanted, wanted) == 0.0
    assert apart([torch.ones(2)], [torch.zeros(2)]) == math.inf
    assert math.isnan(apart([torch.tensor([math.nan])], [torch.ones(1)]))
    with pytest.raises(ValueError, match="zip"):
        apart(found[:1], wanted)
