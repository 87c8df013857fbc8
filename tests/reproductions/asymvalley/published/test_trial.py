"""The cross-entropy at the best temperature, by hand."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from reproductions.asymvalley.published.trial import scaled_cross_entropy


def test_logits_that_are_all_larger_have_the_same_scaled_cross_entropy() -> None:
    logits_NC = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], dtype=torch.float64)
    labels_N = torch.tensor([0, 1, 1])
    scaled = scaled_cross_entropy(logits_NC, labels_N)
    assert scaled < float(F.cross_entropy(logits_NC, labels_N))
    assert scaled_cross_entropy(20.0 * logits_NC, labels_N) == pytest.approx(scaled, abs=1e-3)


def test_logits_that_are_always_wrong_say_nothing_at_the_best_temperature() -> None:
    logits_NC = torch.tensor([[9.0, 0.0], [0.0, 9.0]], dtype=torch.float64)
    scaled = scaled_cross_entropy(logits_NC, torch.tensor([1, 0]))
    assert scaled == pytest.approx(float(torch.tensor(2.0).log()), abs=0.01)
