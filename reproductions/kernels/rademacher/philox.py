"""Philox4x32-10: 128 random bits of a counter and a key, the same on every device.

Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 4.3.
A word is an integer below 2**32; torch has no such type on all devices, so it is held in int64.
"""

from __future__ import annotations

from torch import Tensor

NUM_ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
LOW = 0xFFFF_FFFF

Words = tuple[Tensor, Tensor, Tensor, Tensor]


def philox(counter: Words, key: tuple[int, int]) -> Words:
    """Return four random words per counter; all tensors int64 of one shape."""
    first, second, third, fourth = counter
    for number in range(NUM_ROUNDS):
        keys = [(key[i] + number * KEY_STEPS[i]) & LOW for i in range(2)]
        high_1, low_1 = halves(first * MULTIPLIERS[0])
        high_2, low_2 = halves(third * MULTIPLIERS[1])
        first, second, third, fourth = (
            high_2 ^ second ^ keys[0],
            low_2,
            high_1 ^ fourth ^ keys[1],
            low_1,
        )
    return first, second, third, fourth


def halves(number: Tensor) -> tuple[Tensor, Tensor]:
    """Return the high and the low word of 64 bits; the sign is a bit like the others."""
    return (number >> 32) & LOW, number & LOW


def split(number: int) -> tuple[int, int]:
    """Return the low and the high word of a number below 2**64."""
    return number & LOW, (number >> 32) & LOW
