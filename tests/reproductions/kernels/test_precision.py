"""How far outputs are from what is wanted, as a share of it and of what is allowed."""

from __future__ import annotations

import math

import pytest
import torch

from reproductions.kernels.backend import implementation
from reproductions.kernels.precision import ROUNDING, share_of_allowed


def test_wrong_outputs_and_nan_are_seen() -> None:
    wanted = torch.tensor([1.0, -2.0])
    right = {"dtype": torch.float32, "length": 4}
    assert share_of_allowed(wanted.clone(), wanted.double(), **right) == 0.0
    assert share_of_allowed(wanted * 1.001, wanted.double(), **right) > 1
    # As wrong where all outputs are small, as gradients are.
    assert share_of_allowed(wanted * 1.001e-6, wanted.double() * 1e-6, **right) > 1
    assert share_of_allowed(wanted * math.nan, wanted.double(), **right) == math.inf
    nothing = torch.zeros(2)
    assert share_of_allowed(nothing, nothing.double(), **right) == 0.0
    assert share_of_allowed(nothing + 1e-9, nothing.double(), **right) == math.inf


@pytest.mark.kernels
def test_the_interpreter_still_cuts_digits_off() -> None:
    """Else take `digits_cut_off` out of conftest.py: its bfloat16 is a GPU's then."""
    number = torch.tensor([1 + 1.5 * ROUNDING[torch.bfloat16]])
    cut = implementation("shard_pack", "triton").rearrange(number, 1, 1, torch.bfloat16)
    assert float(cut) == 1.0 < float(number.to(torch.bfloat16))
