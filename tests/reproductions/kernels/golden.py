"""Golden trials of kernels: what is counted, and whether outputs are right; times are no part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from reproductions.kernels.cases import Work
from tests.golden_trials import Golden, Short, golden
from tests.patches import Mutation, around


def off_by_a_thousandth(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Call a function, and spoil what it leaves in float32: float64, the reference, stays right."""
    found = function(*given, **named)
    spoil(given)
    return spoil(found)


def spoil(found: Any) -> Any:
    match found:
        case Tensor() if found.dtype == torch.float32:
            found.detach().mul_(1.001)
        case tuple() | list():
            for each in found:
                spoil(each)
        case _ if hasattr(found, "value"):
            spoil(found.value)
    return found


def spoiled(name: str, function: str, *points: Short) -> Golden:
    """Return the golden trial of what sets a function of plain torch beside others."""
    return golden(
        f"kernels/{name}",
        Mutation(
            where=f"reproductions.kernels.{function}",
            instead=around(off_by_a_thousandth),
            breaks="In float32 plain torch is off by a thousandth.",
        ),
        *points,
        # Outputs of float32 are held against float64.
        double=False,
    )


GOLDEN = (
    spoiled("masked_adamw", "adamw.plain:step_"),
    spoiled("layer_adamw", "adamw.plain:step_"),
    spoiled("shard_pack", "shard_pack.plain:rearrange"),
    spoiled("rademacher", "rademacher.plain:combine"),
    spoiled("tangent_step", "tangent_step.plain:step"),
    spoiled("sign_ops", "sign_ops.plain:add_fedsign_"),
    spoiled("linear_cross_entropy", "linear_cross_entropy.plain:linear_cross_entropy"),
    spoiled("on_device", "adamw.plain:step_", Short(of={"kernel": "layer_adamw"})),
    golden(
        "kernels/floors",
        Mutation(
            where="reproductions.kernels.cases:Case.work",
            instead=around(lambda work, case, precision: Work(1, 0)),
            breaks="A byte is counted.",
        ),
        Short(of={"kernel": "masked_adamw"}),
        Short(of={"kernel": "linear_cross_entropy"}),
        Short(of={"kernel": "rademacher"}),
    ),
)
