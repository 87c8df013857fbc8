"""Problems on digits: what each of their numbers does, and that nothing is judged on its own."""

from __future__ import annotations

import math

import pytest
import torch

from harness.data.bundled import digits
from reproductions.fg2u import hypergradient
from reproductions.fg2u.models.digits import LR, draw_batch, few_pixels, learned_rates

ARRAYS = digits()


def test_batches_are_disjoint_and_drawn_by_their_seed() -> None:
    one, same, other = (
        draw_batch(ARRAYS, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)
    )
    assert torch.equal(one["images"], same["images"])
    assert not torch.equal(one["images"], other["images"])
    apart = (one["x"].flatten(1)[:, None] - one["images"].flatten(1)[None]).abs().sum(2)
    assert apart.min() > 0.0
    assert all(w.dtype == torch.float64 for w in (*one["init"], one["x"], one["images"]))


def test_fewer_pixels_are_the_same_images_enlarged() -> None:
    """Their gradient is that of 8 x 8 pixels, summed over each of theirs."""
    small = few_pixels(ARRAYS, side=2, num_steps=3, seed=0)
    large = few_pixels(ARRAYS, side=8, num_steps=3, seed=0)
    phi = small.phi.repeat_interleave(4, 1).repeat_interleave(4, 2)
    rgu = hypergradient("rgu")
    coarse = rgu(small.problem, small.phi, small.batch)
    fine = rgu(large.problem, phi, small.batch)
    torch.testing.assert_close(coarse.outer_value, fine.outer_value)
    summed = fine.grad.reshape(10, 2, 4, 2, 4).sum((2, 4))
    torch.testing.assert_close(coarse.grad, summed)


@pytest.mark.parametrize("num_meta", [1, 2, 4])
def test_learned_rates_begin_at_one_rate_and_act_in_their_stretch(num_meta: int) -> None:
    one = learned_rates(ARRAYS, num_meta=num_meta, num_steps=4, seed=0)
    assert one.phi.tolist() == pytest.approx([math.log(LR)] * num_meta)
    last = one.phi.clone()
    last[-1] += 0.1
    stretch = 4 // num_meta
    kept, moved = one.problem.start(one.phi, one.batch), one.problem.start(one.phi, one.batch)
    for number in range(4):
        kept = one.problem.step(kept, one.phi, one.batch, number)
        moved = one.problem.step(moved, last, one.batch, number)
        assert torch.equal(kept.params[0], moved.params[0]) == (number < 4 - stretch)
