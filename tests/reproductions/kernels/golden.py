"""Golden trials of kernels: what is counted, and whether outputs are right; times are no part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from reproductions.kernels.cases import Work
from tests.golden_trials import Golden, Short
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


def timed(kernel: str, function: str) -> Golden:
    """Return the golden trial of a kernel's race."""
    return Golden(
        experiment=f"kernels/{kernel}",
        points=(Short(),),
        mutation=Mutation(
            where=f"reproductions.kernels.{function}",
            instead=around(off_by_a_thousandth),
            breaks="In float32 plain torch is off by a thousandth.",
        ),
        # Outputs of float32 are held against float64.
        double=False,
    )


GOLDEN = (
    timed("masked_adamw", "adamw.plain:step_"),
    timed("layer_adamw", "adamw.plain:step_"),
    timed("shard_pack", "shard_pack.plain:rearrange"),
    timed("rademacher", "rademacher.plain:combine"),
    timed("tangent_step", "tangent_step.plain:step"),
    timed("sign_ops", "sign_ops.plain:add_fedsign_"),
    timed("linear_cross_entropy", "linear_cross_entropy.plain:linear_cross_entropy"),
    Golden(
        experiment="kernels/on_device",
        points=(Short(of={"kernel": "layer_adamw"}),),
        mutation=Mutation(
            where="reproductions.kernels.adamw.plain:step_",
            instead=around(off_by_a_thousandth),
            breaks="In float32 plain torch is off by a thousandth.",
        ),
        # As above.
        double=False,
    ),
    Golden(
        experiment="kernels/floors",
        points=(
            Short(of={"kernel": "masked_adamw"}),
            Short(of={"kernel": "linear_cross_entropy"}),
            Short(of={"kernel": "rademacher"}),
        ),
        mutation=Mutation(
            where="reproductions.kernels.cases:Case.work",
            instead=around(lambda work, case, precision: Work(1, 0)),
            breaks="A byte is counted.",
        ),
    ),
)
