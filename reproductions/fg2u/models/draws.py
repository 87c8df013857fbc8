"""What a trial draws by."""

from __future__ import annotations

import torch

from harness.declare import RunContext


def generator_of(ctx: RunContext, stream: str) -> torch.Generator:
    """Return the generator of a named random stream."""
    return torch.Generator().manual_seed(ctx.seed(stream))
