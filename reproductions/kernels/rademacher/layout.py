"""Which bit of which Philox call is the sign of which entry.

Direction i under a seed: the calls have the counter (call, 0, i's low word, i's high word) and the
seed as key. 32 calls make a tile of 4096 entries; within it entry `1024 w + 32 b + c` is bit b of
word w of call c: neighbours come from neighbouring calls, so that a warp, a call per thread,
writes neighbouring numbers at once.
"""

TILE_CALLS = 32
WORDS = 4
BITS = 32
TILE = TILE_CALLS * WORDS * BITS
"""Entries per tile."""
