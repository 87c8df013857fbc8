"""A Lisa that was made and not attached: it has frozen nothing, which must not go unnoticed."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook

from harness.errors import RunError
from reproductions.lisa.method.blocks import Blocks


class Unattached:
    """Watches over a Lisa from when it is made until it is attached.

    In this time no optimizer of torch may step a parameter of its blocks, and a Lisa that is thrown
    away is warned of, as Python warns of a coroutine that nobody awaits.
    """

    told: bool = False
    """Whether the user knows already, from an error."""

    def __init__(self, lisa: object, blocks: Blocks) -> None:
        # By number, or the watch would keep the model alive; the Lisa does so while they matter.
        self._ids = frozenset(id(parameter) for block in blocks.inside for parameter in block)
        self._hook = register_optimizer_step_pre_hook(self._refuse_step)
        self._farewell = weakref.finalize(lisa, self._thrown_away)
        self._farewell.atexit = False

    def end(self) -> None:
        """Stop watching: the Lisa is attached."""
        self._farewell.detach()
        self._hook.remove()

    def _refuse_step(self, optimizer: Optimizer, *_: Any) -> None:
        held = (id(parameter) for group in optimizer.param_groups for parameter in group["params"])
        if not self._ids.isdisjoint(held):
            self.told = True
            raise RunError(
                "a Lisa was made for this model and never attached, so that all blocks would train:"
                " call lisa.attach(optimizer), or attach_to_trainer(lisa, trainer), before training"
                " begins, or delete the Lisa"
            )

    def _thrown_away(self) -> None:
        self._hook.remove()
        if not self.told:
            warnings.warn(
                "a Lisa was made and thrown away without being attached: nothing was frozen",
                RuntimeWarning,
                stacklevel=2,
            )
