"""Where layers stand on the axis of Figures 2 and 12. No torch."""

from __future__ import annotations

from reproductions.lisa.models.shapes import Shape

EMBEDDING, POSITIONS, HEAD = "embedding", "positions", "head"


def block_name(number: int) -> str:
    """Return the name of a decoder block, counted from 0."""
    return f"block {number}"


def places_of(shape: Shape) -> dict[str, int]:
    """Return each layer's place: embeddings, blocks, head; a tied head has one too.

    >>> from reproductions.lisa.models.shapes import SHAPES
    >>> places_of(SHAPES["gpt2-small"])["block 11"], places_of(SHAPES["llama-2-7b"])["head"]
    (13, 33)
    """
    embeddings = [EMBEDDING, POSITIONS] if shape.family == "gpt2" else [EMBEDDING]
    blocks = [block_name(number) for number in range(shape.num_blocks)]
    return {name: place for place, name in enumerate([*embeddings, *blocks, HEAD])}
