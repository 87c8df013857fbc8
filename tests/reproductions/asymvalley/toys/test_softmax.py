"""The fast forms of the softmax toy against a whole Hessian, finite differences and scikit-learn.

All in float64 on a small problem. Patterns and margins of the class weights are compared with plain
loops.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from reproductions.asymvalley.toys.softmax import (
    Images,
    class_margins,
    expected_cosine,
    fit_softmax,
    metrics,
    pattern_cosine,
    perturbed,
)

NUM_IMAGES, NUM_PIXELS, NUM_CLASSES = 13, 64, 10


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def like(weights: Tensor, seed: int) -> Tensor:
    return torch.randn(weights.shape, generator=generator(seed), dtype=weights.dtype)


@pytest.fixture(scope="module")
def problem() -> tuple[Images, Tensor]:
    draw = generator()
    pixels = torch.randint(0, 17, (NUM_IMAGES, NUM_PIXELS), generator=draw).double()
    labels = torch.randint(0, NUM_CLASSES, (NUM_IMAGES,), generator=draw)
    weights = 0.02 * torch.randn(NUM_CLASSES, NUM_PIXELS, generator=draw, dtype=torch.float64)
    return Images(pixels_ND=pixels, labels_N=labels), weights


def naive_hessian(images: Images, weights: Tensor) -> np.ndarray:
    """Return the mean of (diag(p) - p p^T) kron (x x^T), 640 x 640, image by image."""
    total = np.zeros((weights.numel(), weights.numel()))
    for x in images.pixels_ND.numpy():
        scores = weights.numpy() @ x
        p = np.exp(scores - scores.max())
        p /= p.sum()
        total += np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x))
    return total / len(images.pixels_ND)


def loss(images: Images, weights: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(images.pixels_ND @ weights.T, images.labels_N)


def test_trace_and_second_order_are_those_of_the_whole_hessian(
    problem: tuple[Images, Tensor],
) -> None:
    images, weights = problem
    hessian = naive_hessian(images, weights)
    noise = like(weights, 1)
    for direction in (noise, weights):
        found = metrics(weights, images, direction_CD=direction)
        flat = direction.flatten().numpy()
        assert found["trace_h"] == pytest.approx(np.trace(hessian), rel=1e-10)
        assert found["second_order"] == pytest.approx(flat @ hessian @ flat, rel=1e-9)


@pytest.mark.parametrize("along", ["noise", "weights"])
def test_both_orders_are_differences_of_the_loss(
    problem: tuple[Images, Tensor], along: str
) -> None:
    images, weights = problem
    direction = like(weights, 2) if along == "noise" else weights
    found = metrics(weights, images, direction_CD=direction)
    step = 1e-4
    above, here, below = (float(loss(images, weights + k * step * direction)) for k in (1, 0, -1))
    assert found["ce"] == pytest.approx(here, rel=1e-12)
    assert found["first_order"] == pytest.approx((above - below) / (2 * step), rel=1e-5)
    assert found["second_order"] == pytest.approx((above - 2 * here + below) / step**2, rel=1e-3)


def test_error_and_trace_of_p_are_those_of_plain_loops(problem: tuple[Images, Tensor]) -> None:
    images, weights = problem
    found = metrics(weights, images, direction_CD=weights)
    wrong, trace = 0, 0.0
    for x, label in zip(images.pixels_ND, images.labels_N.tolist(), strict=True):
        p = torch.softmax(weights @ x, dim=0)
        wrong += int(p.argmax()) != label
        trace += float(p.sum() - p @ p)
    assert found["error"] == wrong / NUM_IMAGES
    assert found["trace_p"] == pytest.approx(trace / NUM_IMAGES, rel=1e-12)


def test_fit_is_the_optimum_and_repeats_to_the_bit() -> None:
    draw = generator(4)
    labels = torch.arange(90) % 3
    centres = 4.0 * torch.randn(3, 5, generator=draw, dtype=torch.float64)
    pixels = centres[labels] + torch.randn(90, 5, generator=draw, dtype=torch.float64)
    images = Images(pixels_ND=pixels, labels_N=labels)
    weights = fit_softmax(images, max_iter=500)
    assert torch.equal(weights, fit_softmax(images, max_iter=500))
    # At the optimum of sum CE + |W|^2 / 2 the gradient vanishes; scikit-learn's C is 1.
    free = weights.clone().requires_grad_()
    objective = len(labels) * loss(images, free) + free.square().sum() / 2
    (slope,) = torch.autograd.grad(objective, free)
    assert float(slope.abs().max()) < 0.02


def class_weights(seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(4, 9, generator=generator, dtype=torch.float64)
    drawn[:, 0] = 0.0  # a pixel that is always black has no weight
    return drawn


def test_a_zero_weight_moves_against_the_noise() -> None:
    moved = perturbed(torch.tensor([[0.0, 2.0, -3.0]]), torch.tensor([0.5]))
    assert moved.tolist() == [[-0.5, 2.5, -3.5]]


@pytest.mark.parametrize("seed", range(5))
def test_cosine_is_the_closed_form_and_a_plain_loop(seed: int) -> None:
    given = class_weights(seed)
    sizes = torch.tensor([-1.5, -0.2, 0.3, 2.0]).double()
    closed, found = expected_cosine(given, sizes), pattern_cosine(given, sizes)
    for index, (row, size) in enumerate(zip(given.tolist(), sizes.tolist(), strict=True)):
        moved = [w + size * (1.0 if w > 0 else -1.0) for w in row]
        dot = sum(a * b for a, b in zip(moved, row, strict=True))
        plain = dot / math.hypot(*moved) / math.hypot(*row)
        assert float(found[index]) == pytest.approx(plain, abs=1e-12)
        assert float(closed[index]) == pytest.approx(plain, abs=1e-12)


def test_margins_are_those_of_a_plain_loop() -> None:
    generator = torch.Generator().manual_seed(1)
    pixels = torch.randn(30, 9, generator=generator, dtype=torch.float64)
    labels = torch.arange(30) % 4
    given = class_weights(2)
    found = class_margins(given, Images(pixels_ND=pixels, labels_N=labels)).tolist()
    for digit in range(4):
        margins = []
        for x in pixels[labels == digit]:
            scores = (given @ x).tolist()
            own = scores.pop(digit)
            margins.append(own - max(scores))
        assert found[digit] == pytest.approx(sum(margins) / len(margins))
