"""Sizes that kernels are measured at, and what each of them cannot do without: bytes and FLOPs.

A floor is the time that these bytes or FLOPs take at a stated rate: no kernel is faster, and none
need be as fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Precision = Literal["float32", "bfloat16"]
BYTES: dict[Precision, int] = {"float32": 4, "bfloat16": 2}
STATE_BYTES = 8
"""Two moments in float32."""
MASK_BYTES = 1


class Work(NamedTuple):
    """What a call cannot do without."""

    bytes: int
    """Read once and written once, of main memory."""
    flops: int
    """Of matrix products."""


class Case(NamedTuple):
    """Sizes of a call."""

    kernel: str
    name: str
    sizes: Mapping[str, int]

    def work(self, precision: Precision) -> Work:
        """Return bytes and FLOPs of a call."""
        return WORK[self.kernel](BYTES[precision], **self.sizes)


def _adamw(size: int, *, num_tensors: int, entries: int, mask: int = 0) -> Work:
    per_entry = 3 * size + 2 * STATE_BYTES + mask
    return Work(num_tensors * entries * per_entry, 0)


def _masked_adamw(size: int, *, num_tensors: int, entries: int) -> Work:
    return _adamw(size, num_tensors=num_tensors, entries=entries, mask=MASK_BYTES)


def _masked_linear(size: int, *, rows: int, inputs: int, outputs: int) -> Work:
    """Forward and both backward products."""
    moved = 2 * (rows * inputs + rows * outputs + inputs * outputs) * size
    return Work(moved + inputs * outputs * MASK_BYTES, 3 * 2 * rows * inputs * outputs)


def _rademacher(size: int, *, entries: int, directions: int) -> Work:
    """The sum of directions; they themselves need not be anywhere."""
    return Work(4 * (entries + directions), 0)


def _tangent_step(size: int, *, entries: int, directions: int) -> Work:
    """A step of Adam: value, two slots and gradient are read, all but the gradient written."""
    return Work(7 * 4 * entries * (1 + directions), 0)


def _sign_ops(size: int, *, entries: int) -> Work:
    """A step along signs: weights and noise are read, new weights written."""
    return Work(3 * size * entries, 0)


def _linear_cross_entropy(size: int, *, rows: int, inputs: int, classes: int) -> Work:
    """The loss and both gradients; logits need not be anywhere."""
    return Work(2 * size * inputs * (rows + classes), 3 * 2 * rows * inputs * classes)


def _shard_pack(size: int, *, blocks: int, entries: int) -> Work:
    """Blocks of one type are read, and written as float32."""
    return Work(blocks * entries * (size + 4), 0)


WORK = {
    "masked_adamw": _masked_adamw,
    "masked_linear": _masked_linear,
    "rademacher": _rademacher,
    "tangent_step": _tangent_step,
    "sign_ops": _sign_ops,
    "layer_adamw": _adamw,
    "linear_cross_entropy": _linear_cross_entropy,
    "shard_pack": _shard_pack,
}
CASES = (
    Case("masked_adamw", "small nets", {"num_tensors": 24, "entries": 2**14}),
    Case("masked_adamw", "16 million", {"num_tensors": 16, "entries": 2**20}),
    Case("masked_adamw", "268 million", {"num_tensors": 64, "entries": 2**22}),
    Case("masked_linear", "small", {"rows": 512, "inputs": 256, "outputs": 256}),
    Case("masked_linear", "a GPT's", {"rows": 4096, "inputs": 2048, "outputs": 8192}),
    Case("rademacher", "10 images per class", {"entries": 307_200, "directions": 16}),
    Case("rademacher", "50 images per class", {"entries": 1_536_000, "directions": 128}),
    Case("tangent_step", "a small net", {"entries": 2**18, "directions": 16}),
    Case("tangent_step", "a GPT's layer", {"entries": 2**23, "directions": 16}),
    Case("sign_ops", "a ResNet", {"entries": 11_173_962}),
    Case("sign_ops", "a GPT", {"entries": 2**27}),
    Case("layer_adamw", "a layer of a small LM", {"num_tensors": 9, "entries": 393_216}),
    Case("layer_adamw", "two layers of LLaMA-7B", {"num_tensors": 18, "entries": 22_487_040}),
    Case("linear_cross_entropy", "a small LM", {"rows": 512, "inputs": 576, "classes": 49_152}),
    Case("linear_cross_entropy", "LLaMA-7B", {"rows": 4096, "inputs": 4096, "classes": 32_000}),
    Case("shard_pack", "a small unit", {"blocks": 8, "entries": 2**16}),
    Case("shard_pack", "a layer of LLaMA-7B", {"blocks": 32, "entries": 6_324_480}),
)  # fmt: skip
"""The first of each kernel is small enough for a CPU, as is the second of a few."""
