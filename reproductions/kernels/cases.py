"""Sizes that kernels are measured at, and what each of them cannot do without: bytes and FLOPs.

A floor is the time that these bytes or FLOPs take at a stated rate: no kernel is faster, and none
need be as fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from harness.declare import Profile
from harness.errors import SpecError

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
    link_bytes: int = 0
    """Between a card and its host, both ways together."""


class Case(NamedTuple):
    """Sizes of a call."""

    kernel: str
    name: str
    sizes: Mapping[str, int]
    profiles: tuple[Profile, ...]
    """Where it is measured."""
    call: str = ""
    """Which of a kernel's functions."""

    @property
    def precisions(self) -> tuple[Precision, ...]:
        """Return the types that it is measured in."""
        is_float32 = self.kernel in FLOAT32 or self.call == "page"
        return ("float32",) if is_float32 else ("float32", "bfloat16")

    def work(self, precision: Precision) -> Work:
        """Return bytes and FLOPs of a call."""
        name = f"{self.kernel}: {self.call}" if self.call else self.kernel
        return WORK[name](BYTES[precision], **self.sizes)


FLOAT32 = ("rademacher", "tangent_step")
"""Their sums are in float32 whatever a net computes in."""


def _adamw(size: int, *, num_tensors: int, entries: int, mask: int = 0) -> Work:
    per_entry = 3 * size + 2 * STATE_BYTES + mask
    return Work(num_tensors * entries * per_entry, 0)


def _masked_adamw(size: int, *, num_tensors: int, entries: int) -> Work:
    return _adamw(size, num_tensors=num_tensors, entries=entries, mask=MASK_BYTES)


def _paged(size: int, *, num_tensors: int, entries: int) -> Work:
    """States of some layers go to the host, those of as many others come from there."""
    moved = 2 * num_tensors * entries * STATE_BYTES
    return Work(moved, 0, link_bytes=moved)


def _rademacher(size: int, *, entries: int, directions: int) -> Work:
    """Their sum is written, or x is read; directions themselves need not be anywhere."""
    return Work(4 * (entries + directions), 0)


def _both(size: int, *, entries: int, directions: int) -> Work:
    """The sum is written and x is read, weights are read and products written."""
    return Work(2 * 4 * (entries + directions), 0)


def _tangent_step(size: int, *, entries: int, directions: int) -> Work:
    """A step of Adam: value, two slots and gradient are read, all but the gradient written."""
    return Work(7 * 4 * entries * (1 + directions), 0)


def _linear_cross_entropy(size: int, *, rows: int, inputs: int, classes: int) -> Work:
    """The loss and both gradients; logits need not be anywhere."""
    return Work(2 * size * inputs * (rows + classes), 3 * 2 * rows * inputs * classes)


def _rearrange(size: int, *, blocks: int, entries: int) -> Work:
    """Blocks of one type are read, and written as float32."""
    return Work(blocks * entries * (size + 4), 0)


def _sharded_step(size: int, *, blocks: int, entries: int) -> Work:
    """Weights and states in float32; the gradient as it came, and what is sent in bfloat16."""
    return Work(blocks * entries * (2 * 4 + 2 * STATE_BYTES + size + 2), 0)


WORK: dict[str, Callable[..., Work]] = {
    "masked_adamw": _masked_adamw,
    "rademacher: sum": _rademacher,
    "rademacher: along": _rademacher,
    "rademacher: both": _both,
    "tangent_step": _tangent_step,
    "sign_ops": lambda size, entries: Work(4 * size * entries, 0),
    "layer_adamw": _adamw,
    "layer_adamw: page": _paged,
    "linear_cross_entropy": _linear_cross_entropy,
    "shard_pack: rearrange": _rearrange,
    "shard_pack: step": _sharded_step,
}
TINY: tuple[Profile, ...] = ("smoke",)
SMALL: tuple[Profile, ...] = ("cpu", "gpu")
LARGE: tuple[Profile, ...] = ("gpu",)
CASES = (
    Case("masked_adamw", "two tensors", {"num_tensors": 2, "entries": 3000}, TINY),
    Case("masked_adamw", "small nets", {"num_tensors": 24, "entries": 2**14}, SMALL),
    Case("masked_adamw", "17 million", {"num_tensors": 16, "entries": 2**20}, SMALL),
    Case("masked_adamw", "268 million", {"num_tensors": 64, "entries": 2**22}, LARGE),
    Case("rademacher", "one image, sum", {"entries": 5000, "directions": 2}, TINY, "sum"),
    Case("rademacher", "10 per class, sum", {"entries": 307_200, "directions": 16}, SMALL, "sum"),
    Case("rademacher", "10 per class, along", {"entries": 307_200, "directions": 16}, SMALL,
         "along"),
    Case("rademacher", "50 per class, sum", {"entries": 1_536_000, "directions": 128}, LARGE,
         "sum"),
    Case("rademacher", "50 per class, along", {"entries": 1_536_000, "directions": 128}, LARGE,
         "along"),
    Case("rademacher", "50 per class, both", {"entries": 1_536_000, "directions": 128}, LARGE,
         "both"),
    Case("tangent_step", "a layer", {"entries": 3000, "directions": 2}, TINY),
    Case("tangent_step", "a small net", {"entries": 2**16, "directions": 16}, SMALL),
    Case("tangent_step", "a ResNet's block", {"entries": 2**20, "directions": 16}, SMALL),
    Case("tangent_step", "a GPT's layer", {"entries": 2**23, "directions": 16}, LARGE),
    Case("sign_ops", "a layer", {"entries": 3000}, TINY),
    Case("sign_ops", "a ResNet", {"entries": 11_173_962}, SMALL),
    Case("sign_ops", "a GPT", {"entries": 2**27}, LARGE),
    Case("layer_adamw", "two tensors", {"num_tensors": 2, "entries": 3000}, TINY),
    Case("layer_adamw", "a small LM's", {"num_tensors": 9, "entries": 393_216}, SMALL),
    Case("layer_adamw", "two of SmolLM2's", {"num_tensors": 18, "entries": 393_216}, SMALL),
    Case("layer_adamw", "two of LLaMA-7B's", {"num_tensors": 18, "entries": 22_487_040}, LARGE),
    Case("linear_cross_entropy", "60 classes", {"rows": 40, "inputs": 16, "classes": 60}, TINY),
    Case("linear_cross_entropy", "a character model",
         {"rows": 2048, "inputs": 128, "classes": 256}, SMALL),
    Case("linear_cross_entropy", "8192 tokens", {"rows": 256, "inputs": 256, "classes": 8192},
         SMALL),
    Case("linear_cross_entropy", "SmolLM2", {"rows": 4096, "inputs": 576, "classes": 49_152},
         LARGE),
    Case("linear_cross_entropy", "LLaMA-7B", {"rows": 4096, "inputs": 4096, "classes": 32_000},
         LARGE),
    Case("shard_pack", "eight blocks", {"blocks": 8, "entries": 1000}, TINY, "rearrange"),
    Case("shard_pack", "a small unit", {"blocks": 8, "entries": 2**16}, SMALL, "rearrange"),
    Case("shard_pack", "a unit's step", {"blocks": 8, "entries": 2**18}, SMALL, "step"),
    Case("shard_pack", "LLaMA-7B's", {"blocks": 32, "entries": 6_324_480}, LARGE, "rearrange"),
    Case("shard_pack", "LLaMA-7B's step", {"blocks": 8, "entries": 6_324_480}, LARGE, "step"),
)  # fmt: skip
PAGING = Case("layer_adamw", "two of LLaMA-7B's, states paged",
              {"num_tensors": 18, "entries": 22_487_040}, LARGE, "page")  # fmt: skip
"""A floor alone: who moves states is LISA's `page_refrozen`, and no kernel."""
KERNELS = tuple(dict.fromkeys(case.kernel for case in CASES))
PRINTED = tuple(case for case in CASES if case.profiles != TINY)
"""What tables show: at `smoke` sizes say nothing."""


def case_of(kernel: str, name: str) -> Case:
    """Return a kernel's case. Raises SpecError for a name that is none."""
    if (kernel, name) not in _BY_NAME:
        names = ", ".join(case.name for case in CASES if case.kernel == kernel)
        raise SpecError(f"kernel {kernel!r} has no case {name!r}, it has: {names or 'none at all'}")
    return _BY_NAME[kernel, name]


_BY_NAME = {(case.kernel, case.name): case for case in (*CASES, PAGING)}
