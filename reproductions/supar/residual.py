"""GPT-2's smaller start of the matrices that write to the residual stream, as an option."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn


@torch.no_grad()
def shrink_residual_outputs(model: nn.Module, layers: Iterable[str], *, num_blocks: int) -> None:
    """Divide the weights of `layers` by sqrt(2 * num_blocks), in place.

    Called after `Parameterization.initialize`, for every scheme alike. Table 1 does not mention
    it, so nothing here uses it; the authors' code has it. Masked weights stay zero.

    layers: the last matrix of each of a block's two branches, `blocks.0.attention.out` for one.
    """
    for layer in layers:
        model.get_parameter(f"{layer}.weight").div_((2 * num_blocks) ** 0.5)
