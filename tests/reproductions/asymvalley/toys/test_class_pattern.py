"""Patterns and margins of class weights against plain loops and the inequality behind them."""

from __future__ import annotations

import math

import pytest
import torch

from reproductions.asymvalley.toys.class_pattern import (
    class_margins,
    expected_cosine,
    pattern_cosine,
    perturbed,
)
from reproductions.asymvalley.toys.softmax import Images


def weights(seed: int, *, num_pixels: int = 9) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(4, num_pixels, generator=generator, dtype=torch.float64)
    drawn[:, 0] = 0.0  # a pixel that is always black has no weight
    return drawn


def test_a_zero_weight_moves_against_the_noise() -> None:
    moved = perturbed(torch.tensor([[0.0, 2.0, -3.0]]), torch.tensor([0.5]))
    assert moved.tolist() == [[-0.5, 2.5, -3.5]]


@pytest.mark.parametrize("seed", range(5))
def test_cosine_is_the_closed_form_and_a_plain_loop(seed: int) -> None:
    given = weights(seed)
    sizes = torch.tensor([-1.5, -0.2, 0.3, 2.0]).double()
    closed, found = expected_cosine(given, sizes), pattern_cosine(given, sizes)
    for index, (row, size) in enumerate(zip(given.tolist(), sizes.tolist(), strict=True)):
        moved = [w + size * (1.0 if w > 0 else -1.0) for w in row]
        dot = sum(a * b for a, b in zip(moved, row, strict=True))
        plain = dot / math.hypot(*moved) / math.hypot(*row)
        assert float(found[index]) == pytest.approx(plain, abs=1e-12)
        assert float(closed[index]) == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_any_weight_keeps_more_of_its_pattern_on_the_positive_side(seed: int) -> None:
    given = weights(seed, num_pixels=64)
    for size in (0.01, 0.3, 1.0, 5.0):
        sizes = torch.full((4,), size, dtype=torch.float64)
        assert bool((pattern_cosine(given, sizes) > pattern_cosine(given, -sizes)).all())


def test_a_weight_of_constant_size_keeps_its_pattern_on_both_sides() -> None:
    # The case of equality in the inequality of Cauchy and Schwarz.
    constant = torch.tensor([[2.0, -2.0, 2.0, -2.0]]).double()
    for size in (-1.0, 1.0):
        assert float(pattern_cosine(constant, torch.tensor([size]).double())) == pytest.approx(1.0)


def test_margins_are_those_of_a_plain_loop() -> None:
    generator = torch.Generator().manual_seed(1)
    pixels = torch.randn(30, 9, generator=generator, dtype=torch.float64)
    labels = torch.arange(30) % 4
    given = weights(2)
    found = class_margins(given, Images(pixels_ND=pixels, labels_N=labels)).tolist()
    for digit in range(4):
        margins = []
        for x in pixels[labels == digit]:
            scores = (given @ x).tolist()
            own = scores.pop(digit)
            margins.append(own - max(scores))
        assert found[digit] == pytest.approx(sum(margins) / len(margins))
