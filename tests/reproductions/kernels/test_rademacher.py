"""Random signs: known answers of Random123, one source like another, and what is made of them."""

from __future__ import annotations

import math
from types import ModuleType

import pytest
import torch

from reproductions.kernels.precision import tolerance
from reproductions.kernels.rademacher import plain
from reproductions.kernels.rademacher.plain import TILE, philox

KERNEL = "rademacher"

KNOWN = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)  # fmt: skip
"""Counter, key and answer, from kat_vectors of Random123 1.09."""
CPU = torch.device("cpu")
SEED = 0x1234_5678_9ABC_DEF0


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(
    counter: tuple[int, ...], key: tuple[int, int], answer: tuple[int, ...]
) -> None:
    words = philox(tuple(torch.tensor([word]) for word in counter), key)  # type: ignore[arg-type]
    assert tuple(int(word) for word in words) == answer


def test_signs_are_even_and_of_no_other_direction() -> None:
    rows = plain.signs(SEED, range(64), 2 * TILE, CPU).double()
    assert set(rows.unique().tolist()) == {-1.0, 1.0}
    # Means and products of 8192 signs have a deviation of 0.011; of 2,080 none is beyond 5 of it.
    products = rows @ rows.T / rows.shape[1] - torch.eye(64, dtype=torch.float64)
    assert products.abs().max() < 5 / rows.shape[1] ** 0.5
    assert rows.mean(1).abs().max() < 5 / rows.shape[1] ** 0.5
    assert rows.mean(0).abs().max() < 6 / 64**0.5


def test_a_direction_is_one_whatever_else_is_asked_for() -> None:
    whole = plain.signs(SEED, [7, 9], 5000, CPU)
    assert torch.equal(whole[1], plain.signs(SEED, [9], 5000, CPU)[0])
    assert torch.equal(whole[:, :100], plain.signs(SEED, [7, 9], 100, CPU))
    assert not torch.equal(whole, plain.signs(SEED + 2**33, [7, 9], 5000, CPU))


@pytest.mark.parametrize(
    ("num_entries", "numbers"),
    [
        *((size, [3, 1, 2**40 + 4]) for size in (0, 1, 31, 4095, TILE, 2 * TILE + 5)),
        (31, []),
        (2 * TILE + 5, [5]),
    ],
    ids=str,
)
def test_both_at_once_are_each_alone(ops: ModuleType, num_entries: int, numbers: list[int]) -> None:
    generator = torch.Generator().manual_seed(6)
    weights, x = (torch.randn(size, generator=generator) for size in (len(numbers), num_entries))
    summed, along = ops.combine_and_project(weights, x, SEED, numbers)
    assert summed.shape == (num_entries,) and along.shape == (len(numbers),)
    assert torch.equal(summed, ops.combine(weights, SEED, numbers, num_entries))
    assert torch.equal(along, ops.project(x, SEED, numbers))
    # Signs are those that Philox, which known answers hold, makes in plain torch.
    matrix = plain.signs(SEED, numbers, num_entries, CPU).double()
    allowed = tolerance(torch.float32, num_entries, size=3 * max(num_entries, 1) ** 0.5)
    torch.testing.assert_close(summed.double(), weights.double() @ matrix, **allowed)
    torch.testing.assert_close(along.double(), matrix @ x.double(), **allowed)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_and_numbers_of_half_length_are_summed_in_float32(
    ops: ModuleType, dtype: torch.dtype
) -> None:
    generator = torch.Generator().manual_seed(4)
    weights = torch.randn(5, generator=generator).to(dtype)
    x = torch.randn(TILE + 3, generator=generator).to(dtype)
    rows = plain.signs(SEED, range(5), TILE + 3, CPU).double()
    summed, along = ops.combine(weights, SEED, range(5), TILE + 3), ops.project(x, SEED, range(5))
    assert summed.dtype == along.dtype == torch.float32
    allowed = tolerance(torch.float32, TILE, size=64.0)
    torch.testing.assert_close(summed.double(), weights.double() @ rows, **allowed)
    torch.testing.assert_close(along.double(), rows @ x.double(), **allowed)


@pytest.mark.parametrize("odd", [-math.inf, math.nan])
def test_what_is_not_finite_reaches_each_sum_it_is_in(ops: ModuleType, odd: float) -> None:
    rows = plain.signs(SEED, range(3), TILE + 3, CPU)
    weights = torch.tensor([1.0, odd, -2.0])
    summed = ops.combine(weights, SEED, range(3), TILE + 3)
    assert torch.equal(summed.nan_to_num(7.0, 8.0, 9.0), (rows[1] * odd).nan_to_num(7.0, 8.0, 9.0))
    x = torch.zeros(TILE + 3)
    x[TILE + 1] = odd
    along = ops.project(x, SEED, range(3))
    wanted = rows[:, TILE + 1] * odd
    assert torch.equal(along.nan_to_num(7.0, 8.0, 9.0), wanted.nan_to_num(7.0, 8.0, 9.0))


def test_every_other_number_of_a_tensor_is_read_as_it_lies(ops: ModuleType) -> None:
    # Halves: their sums are exact in any order.
    weights, x = ((torch.arange(size, dtype=torch.float32) / 2)[::2] for size in (6, 10_000))
    numbers = [4, 0, 9]
    assert torch.equal(
        ops.combine(weights, SEED, numbers, 5000), ops.combine(weights.clone(), SEED, numbers, 5000)
    )
    assert torch.equal(ops.project(x, SEED, numbers), ops.project(x.clone(), SEED, numbers))
