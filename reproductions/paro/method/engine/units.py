"""Which parameters are gathered and reduced together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch import nn

from harness.errors import SpecError

REST = "the rest"
"""Name of the unit of what lies in no other."""


@dataclass(frozen=True, slots=True)
class Part:
    """A module whose parameters move together, but for those of units inside it."""

    name: str
    module: nn.Module
    params: dict[str, nn.Parameter]
    """By their names in the model, each once."""


def parts_of(model: nn.Module, modules: Sequence[nn.Module] | None = None) -> list[Part]:
    """Return a model's units, in the order of its modules; what is in none makes one more, first.

    modules: one unit each. None: the entries of the list (nn.ModuleList) with most parameters.
    Raises SpecError for a module that is not in the model, and for a parameter of two units.
    """
    chosen = longest_list(model) if modules is None else list(modules)
    names = {id(module): name for name, module in reversed(list(model.named_modules()))}
    for module in chosen:
        if id(module) not in names:
            raise SpecError(f"a unit that is not in the model: {type(module).__name__}; name parts"
                            " of the model that is wrapped")  # fmt: skip
        if isinstance(module, (nn.ModuleList, nn.ModuleDict)):
            raise SpecError(f"unit {names[id(module)]} is a list of modules, which no pass calls:"
                            " name its entries")  # fmt: skip
    owners = {id(model), *(id(module) for module in chosen)}
    found: dict[int, Part] = {}
    owner_of: dict[nn.Parameter, tuple[Part, str]] = {}
    # A module of two names is one unit: both lead to it.
    for path, module in model.named_modules(remove_duplicate=False):
        owner = innermost(model, path, owners)
        part = found.setdefault(id(owner), Part(names[id(owner)] or REST, owner, {}))
        for leaf, param in module.named_parameters(recurse=False):
            name = f"{path}.{leaf}".lstrip(".")
            first, first_name = owner_of.setdefault(param, (part, name))
            if first is not part:
                raise SpecError(
                    f"parameter {name} of unit {part.name} is {first_name} of unit {first.name}:"
                    " name a module that holds both as one unit, or neither"
                )
            if first_name == name:
                part.params[name] = param
    return [part for part in found.values() if part.params]


def innermost(model: nn.Module, path: str, owners: set[int]) -> nn.Module:
    """Return the unit that a module of this path lies in: the last one on the way to it."""
    owner = module = model
    for name in path.split(".") if path else ():
        module = module.get_submodule(name)
        if id(module) in owners:
            owner = module
    return owner


def longest_list(model: nn.Module) -> list[nn.Module]:
    """Return the entries of the list of modules that has most parameters; none if there is none."""
    lists = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    return list(max(lists, key=num_params)) if lists else []


def num_params(modules: Iterable[nn.Module]) -> int:
    """Return how many numbers the parameters of modules are."""
    return sum(param.numel() for each in modules for param in each.parameters())
