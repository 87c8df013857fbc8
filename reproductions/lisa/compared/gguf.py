"""Reads a GGUF file: what it says of itself, and its tensors in float32.

Source: the format's own page (ggml, docs/gguf.md, version 3) and ggml's `block_q4_1` and
`block_q8_0`. Of its types of tensors those are read that our files have.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import DataError

MAGIC, VERSION, ALIGNMENT = b"GGUF", 3, 32
SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
"""Numbers of types of values, as `struct` has them."""
TEXT, ARRAY = 8, 9
BLOCK = 32
"""Weights that share a scale."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, slots=True)
class GgufFile:
    """What a file holds."""

    facts: Mapping[str, Any]
    """Values by key: sizes, tokens, merges."""
    tensors: Mapping[str, Floats]
    """By ggml's names, rows first as torch has them."""


class _Reader:
    """Takes values off a file's bytes, one after the other."""

    def __init__(self, content: bytes) -> None:
        self._content, self.at = content, 0

    def number(self, code: str) -> Any:
        """Return one little-endian number."""
        (found,) = struct.unpack_from(f"<{code}", self._content, self.at)
        self.at += struct.calcsize(code)
        return found

    def text(self) -> str:
        """Return a text, which follows its length."""
        length = self.number("Q")
        start, self.at = self.at, self.at + length
        return self._content[start : self.at].decode()

    def value(self, kind: int) -> Any:
        """Return a value of a type."""
        if kind == TEXT:
            return self.text()
        if kind == ARRAY:
            inner, count = self.number("I"), self.number("Q")
            return [self.value(inner) for _ in range(count)]
        if kind not in SCALARS:
            raise DataError(f"a GGUF file holds a value of type {kind}, which is none we know")
        return self.number(SCALARS[kind])


def read_gguf(content: bytes) -> GgufFile:
    """Return a file's facts and tensors.

    Raises DataError for another format, a tensor of a type that is not read, or a file cut short.
    """
    try:
        return _read(content)
    except (struct.error, ValueError) as error:
        raise DataError(f"a GGUF file is cut short or damaged: {error}") from error


def _read(content: bytes) -> GgufFile:
    reader = _Reader(content)
    head, version = content[: len(MAGIC)], struct.unpack_from("<I", content, len(MAGIC))[0]
    if head != MAGIC or version != VERSION:
        raise DataError(f"need GGUF of version {VERSION}, found {head!r} of version {version}")
    reader.at = len(MAGIC) + 4
    num_tensors, num_facts = reader.number("Q"), reader.number("Q")
    facts = {reader.text(): reader.value(reader.number("I")) for _ in range(num_facts)}
    entries = []
    for _ in range(num_tensors):
        name, num_sides = reader.text(), reader.number("I")
        sides = [reader.number("Q") for _ in range(num_sides)]
        entries.append((name, sides[::-1], reader.number("I"), reader.number("Q")))
    aligned = facts.get("general.alignment", ALIGNMENT)
    start = -(-reader.at // aligned) * aligned
    tensors = {
        name: _tensor(content, name, sides, kind, start + offset)
        for name, sides, kind, offset in entries
    }
    return GgufFile(facts=facts, tensors=tensors)


def _tensor(content: bytes, name: str, sides: list[int], kind: int, start: int) -> Floats:
    if kind not in UNPACKED:
        raise DataError(f"tensor {name} is of type {kind}: need one of {sorted(UNPACKED)}")
    bytes_each, unpack = UNPACKED[kind]
    count = prod(sides)
    length = count // BLOCK * bytes_each
    raw = np.frombuffer(content, np.uint8, length, start).reshape(-1, bytes_each)
    return unpack(raw).reshape(sides)


def _float32(blocks: NDArray[np.uint8]) -> Floats:
    return blocks.copy().view("<f4")


def _q4_1(blocks: NDArray[np.uint8]) -> Floats:
    """Return scale times number, from 0 to 15, plus least value; high halves are the later 16."""
    scale, least = (_half(blocks[:, place : place + 2]) for place in (0, 2))
    packed = blocks[:, 4:]
    numbers = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32)
    return scale * numbers + least


def _q8_0(blocks: NDArray[np.uint8]) -> Floats:
    """Return scale times number, from -128 to 127."""
    return _half(blocks[:, :2]) * blocks[:, 2:].copy().view(np.int8).astype(np.float32)


def _half(pair: NDArray[np.uint8]) -> Floats:
    return pair.copy().view("<f2").astype(np.float32)


UNPACKED: dict[int, tuple[int, Callable[[NDArray[np.uint8]], Floats]]] = {
    0: (4 * BLOCK, _float32),
    3: (4 + BLOCK // 2, _q4_1),
    8: (2 + BLOCK, _q8_0),
}
"""ggml's numbers of the types F32, Q4_1 and Q8_0: bytes of a block, and what unpacks many."""
