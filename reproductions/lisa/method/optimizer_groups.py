"""The parameter groups of an optimizer whose trained blocks change.

Every group that holds parameters of blocks is split once: the group itself keeps what is always
on, and a twin with the same options takes those of the active blocks, whichever they are. A
switch then refills the twins and touches nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn
from torch.optim import LBFGS, Optimizer

from harness.errors import SpecError

Options = dict[str, Any]
STEP_OPTION = "lisa_step"


class OptimizerGroups:
    """Splits an optimizer's groups, and refills the twins at each switch."""

    def __init__(self, optimizer: Optimizer, blocks: Sequence[Sequence[nn.Parameter]]) -> None:
        """Split the groups. Raises SpecError where the optimizer cannot be split.

        It must hold every trainable parameter of the blocks (one built after blocks were frozen
        does not, and would never update them), and no scheduler may have counted its groups yet.
        """
        _refuse_optimizers(optimizer)
        group_of = {
            id(parameter): number
            for number, group in enumerate(optimizer.param_groups)
            for parameter in group["params"]
        }
        self._optimizer = optimizer
        self._block_groups = [_groups_in(block, number, group_of) for number, block in
                              enumerate(blocks)]  # fmt: skip
        self._twins = self._split()

    def refill(self, active: Sequence[int]) -> None:
        """Let the optimizer hold these blocks, and no other one."""
        # By number: loading a checkpoint puts new dicts in the groups' places.
        for number, twin in self._twins.items():
            self._optimizer.param_groups[twin]["params"] = [
                parameter
                for block in active
                for parameter, group in self._block_groups[block]
                if group == number
            ]

    def note_step(self, step: int) -> None:
        """Write the step where any optimizer's checkpoint has it, also one that runs no hooks."""
        for twin in self._twins.values():
            self._optimizer.param_groups[twin][STEP_OPTION] = step

    def noted_step(self) -> int:
        """Return the step that the groups have, of the last step or of a loaded checkpoint."""
        twin = next(iter(self._twins.values()))
        return int(self._optimizer.param_groups[twin].get(STEP_OPTION, 0))

    def holds(self, active: Sequence[int]) -> bool:
        """Say whether the twins still hold just these blocks, as `refill` left them."""
        expected = [id(parameter) for block in active for parameter, _ in self._block_groups[block]]
        groups = self._optimizer.param_groups
        if len(groups) <= max(self._twins.values(), default=-1):
            return False
        found = [
            id(parameter) for twin in self._twins.values() for parameter in groups[twin]["params"]
        ]
        return sorted(found) == sorted(expected)

    def _split(self) -> dict[int, int]:
        """Return the number of each split group's twin."""
        groups, twins = self._optimizer.param_groups, {}
        moving = {id(parameter) for block in self._block_groups for parameter, _ in block}
        numbers = sorted({group for block in self._block_groups for _, group in block})
        for number in numbers:
            group = groups[number]
            options: Options = {name: value for name, value in group.items() if name != "params"}
            group["params"] = [p for p in group["params"] if id(p) not in moving]
            twins[number] = len(groups)
            # Not by add_param_group, which refuses a group that is empty until the first refill.
            groups.append({"params": [], **options})
        return twins


def _groups_in(
    block: Sequence[nn.Parameter], number: int, group_of: dict[int, int]
) -> list[tuple[nn.Parameter, int]]:
    missing = sum(id(parameter) not in group_of for parameter in block)
    if missing:
        raise SpecError(
            f"the optimizer lacks {missing} parameters of block {number}: build it over"
            " model.parameters() before any of them is frozen"
        )
    return [(parameter, group_of[id(parameter)]) for parameter in block]


def _refuse_optimizers(optimizer: Optimizer) -> None:
    if hasattr(optimizer, "optimizer"):
        raise SpecError(
            "attach to the optimizer itself, before a library has wrapped it, as"
            " accelerator.prepare(optimizer) does"
        )
    if isinstance(optimizer, LBFGS):
        raise SpecError("LBFGS has one group for all parameters: take another optimizer")
    # What torch's schedulers leave on the optimizer whose groups they have counted.
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        raise SpecError("attach before the learning-rate scheduler is made: it counts the groups")
    if any("param_names" in group for group in optimizer.param_groups):
        raise SpecError("build the optimizer from parameters and not from named_parameters()")
