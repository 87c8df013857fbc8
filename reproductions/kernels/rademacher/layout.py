"""Which bit of which Philox call is the sign of which entry.

Direction i under a seed: the calls have the counter (call, 0, i's low word, i's high word) and the
seed as key. 32 calls make a tile of 4096 entries; within it entry `1024 w + 128 g + 4 c + j` is bit
`4 g + j` of word w of call c: a warp, a call per thread, writes neighbouring numbers at once, and
each of its threads four of them, which is as much as one instruction moves.
"""

TILE_CALLS = 32
WORDS = 4
BITS = 32
NEIGHBOURS = 4
"""Neighbouring entries of a call."""
TILE = TILE_CALLS * WORDS * BITS
"""Entries per tile."""
