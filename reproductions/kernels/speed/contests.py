"""Who takes turns at a case, by its kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import torch

from reproductions.kernels.cases import Case
from reproductions.kernels.speed.contest import Contest, Setting
from reproductions.kernels.speed.matrices import cross_entropy, masked_product
from reproductions.kernels.speed.steps import adamw, sharded, tangent_step
from reproductions.kernels.speed.streams import rademacher, rearrange, sign_ops

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
MAKERS: Mapping[str, Callable[[Case, Setting], Contest]] = {
    "masked_adamw": partial(adamw, masked=True),
    "masked_linear": masked_product,
    "rademacher": rademacher,
    "tangent_step": tangent_step,
    "sign_ops": sign_ops,
    "layer_adamw": partial(adamw, masked=False),
    "linear_cross_entropy": cross_entropy,
}


def contest_of(case: Case, setting: Setting) -> Contest:
    """Return who takes turns at a case."""
    if case.kernel == "shard_pack":
        return (sharded if case.call == "step" else rearrange)(case, setting)
    return MAKERS[case.kernel](case, setting)
