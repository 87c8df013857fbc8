"""Whether an optimizer's steps are those that the rates of `param_groups` are made for.

They are made for Adam: SmuPar takes each entry of a weight to move by about its rate, whatever the
size of the gradient, and divides the rate by what that adds up to over a neuron's weights (arXiv
2405.15743, section 2; for all optimizers of entries: Yang, Littwin, arXiv 2308.01814). Steps of SGD
grow with the gradient, which falls with the width, so its rates scale otherwise (Yang et al., arXiv
2203.03466, tables 3 and 8); Muon, LAMB and Adafactor size a step by its whole matrix.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from harness.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import nn
    from torch.optim import Optimizer

MADE_FOR = "rates_made_for"
"""Key of a group: Adam, or the class for which its user vouches."""

_BY_ENTRY = re.compile("adam|adabelief|adan|ademamix|adagrad|lion|rmsprop|signsgd", re.IGNORECASE)
_NOT_BY_ENTRY = re.compile("muon|lamb|shampoo|radam", re.IGNORECASE)
"""The first steps of RAdam are those of SGD."""
_DECAY_IN_GRADIENT = {"Adamax", "Adagrad", "RMSprop"}
"""Of torch, without an option; where there is one, it is a key of the groups."""


@functools.cache
def watch_optimizers() -> None:
    """Have every step of an optimizer of torch begin with `check_optimizer`, in this process."""
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    register_optimizer_step_pre_hook(lambda optimizer, _, __: check_optimizer(optimizer))


def check_optimizer(optimizer: Optimizer) -> None:
    """Raise SpecError for an optimizer that the rates or the decay of its groups do not fit.

    Groups that `param_groups` did not make are left alone.
    """
    ours = [group for group in optimizer.param_groups if MADE_FOR in group]
    if not ours:
        return
    # What subclasses, fuses or quantizes Adam keeps its name; they have no other mark in common.
    own, names = type(optimizer).__name__, {kind.__name__ for kind in type(optimizer).__mro__}
    every = " ".join(names)
    by_entry = _BY_ENTRY.search(every) and not _NOT_BY_ENTRY.search(every)
    if not by_entry and any(group[MADE_FOR] not in names for group in ours):
        raise SpecError(
            f"{own} has the rates of param_groups, which are made for Adam: they do not fit where a"
            " step's size follows the gradient (SGD) or its matrix (Muon, Adafactor). Use AdamW;"
            " or, if each entry moves by about its rate whatever the gradient,"
            f" param_groups(..., like_adam={own!r})"
        )
    itself = names & _DECAY_IN_GRADIENT or getattr(optimizer, "_decay", "") == "independent"
    if any(
        group["weight_decay"] and (itself or not group.get("decoupled_weight_decay", True))
        for group in ours
    ):
        raise SpecError(
            f"{own} does not shrink weights by lr * weight_decay, for which param_groups sets the"
            " decay: use AdamW, its decay coupled, or weight_decay=0"
        )


def check_trained(optimizer: Optimizer, layers: Mapping[str, nn.Module]) -> None:
    """Raise SpecError where an optimizer leaves a parameter of some layers, by name, as it is."""
    trained = {id(p) for group in optimizer.param_groups for p in group["params"]}
    for name, layer in layers.items():
        for inner, parameter in layer.named_parameters():
            if parameter.requires_grad and id(parameter) not in trained:
                raise SpecError(
                    f"the optimizer does not train {name}.{inner}: give it all parameters of the"
                    " model"
                )
