"""LISA (arXiv 2403.17919): fine-tune a few layers at a time, drawn anew every K steps.

Usable alone, on any model with a list of blocks:

    lisa = Lisa(model, gamma=2, period=13, seed=0)
    optimizer = lisa.attach(torch.optim.AdamW(model.parameters(), lr=1e-5))

and with transformers' Trainer, before `trainer.train()`:

    attach_to_trainer(Lisa(trainer.model, gamma=2, period=13, seed=0), trainer)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reproductions.lisa.method.blocks import Blocks, find_blocks
    from reproductions.lisa.method.lisa import Lisa, StatePolicy
    from reproductions.lisa.method.sampling import RandomSampler, Sampler, expected_coverage
    from reproductions.lisa.method.trainer import attach_to_trainer

__all__ = [
    "Lisa",
    "attach_to_trainer",
    "StatePolicy",
    "find_blocks",
    "Blocks",
    "RandomSampler",
    "Sampler",
    "expected_coverage",
]


def __getattr__(name: str) -> Any:
    # Declarations import this package too, and listing tasks must not load torch.
    for module in ("lisa", "blocks", "sampling", "trainer") if name in __all__ else ():
        found = import_module(f"{__name__}.method.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
