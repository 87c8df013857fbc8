"""Bytes that plain torch moves for a call, by counting: what a kernel of one pass saves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from reproductions.kernels.cases import Case, Precision
from reproductions.kernels.speed.contest import Setting
from reproductions.kernels.speed.experiment import EAGER
from reproductions.kernels.speed.trial import DTYPES, contest_of


class MovedBytes(TorchDispatchMode):
    """Counts what each operation within reads and writes; a view moves nothing.

    An operand counts once per operation and an operation once per call, as if no cache kept
    anything between two of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            touched = tree_leaves((args, kwargs, result))
            self.total += sum(t.numel() * t.itemsize for t in touched if isinstance(t, Tensor))
        return result


def plain_bytes(case: Case, precision: Precision) -> int | None:
    """Return the bytes that plain torch moves for a call; None where no plain torch makes it."""
    if case.call == "page":
        return None
    with FakeTensorMode():
        contest = contest_of(case, Setting(DTYPES[precision], torch.device("cpu")))
        call = contest.contenders[EAGER].bind(contest.draw(torch.Generator()))
        with MovedBytes() as moved:
            call()
    return moved.total
