"""How far outputs are from what is wanted, as a share of what the table of tolerances allows."""

from __future__ import annotations

import math

import torch

from reproductions.kernels.precision import share_of_allowed


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
