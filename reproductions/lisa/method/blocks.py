"""Where a model's decoder blocks are, found by structure or by the name that the caller gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from torch import nn

from harness.errors import SpecError, nearest

_RIVAL = 0.25
"""A second stack of blocks with this share of the first's parameters makes the choice unclear;
a vision tower beside a language model has less, an encoder beside a decoder has more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Blocks:
    """The list of decoder blocks of a model, and the parameters inside and outside of it."""

    path: str
    """Name of the list inside the model, such as `model.layers` or `transformer.h`."""
    inside: tuple[tuple[nn.Parameter, ...], ...]
    """Parameters of each block."""
    outside: tuple[nn.Parameter, ...]
    """All others: embeddings, final norm, language-model head, and whatever else the model has,
    such as a vision tower; tied tensors once."""

    def __len__(self) -> int:
        return len(self.inside)


def find_blocks(model: nn.Module, path: str | None = None) -> Blocks:
    """Return the decoder blocks of a model.

    path: name of the list of blocks; without it, the outermost nn.ModuleList with the most
    parameters is taken. Raises SpecError where there is none, where a second list is nearly as
    large (an encoder beside a decoder), or where blocks share parameters with anything else.
    """
    found = _named(model, path) if path is not None else _largest(model)
    # Iterated, since children() would hide that a module is in the list twice.
    modules: Iterable[nn.Module] = model.get_submodule(found)  # type: ignore[assignment]
    inside = tuple(tuple(module.parameters()) for module in modules)
    if not all(inside):
        raise SpecError(f"{found!r} has a block without parameters: name another list as `blocks`")
    _refuse_shared(model, found, inside)
    owned = {id(parameter) for block in inside for parameter in block}
    outside = tuple(parameter for parameter in model.parameters() if id(parameter) not in owned)
    return Blocks(path=found, inside=inside, outside=outside)


def embedding_parameters(model: nn.Module, blocks: Blocks) -> tuple[nn.Parameter, ...]:
    """Return the parameters of all embeddings and of the language-model head, tied ones once.

    Position embeddings count. A head is known by `get_output_embeddings`, as Hugging Face models
    have it, also where the model holds such a model; of another model freeze it beforehand.
    """
    layers = [module for module in model.modules() if isinstance(module, nn.Embedding)]
    told = [module for module in model.modules() if hasattr(module, "get_output_embeddings")]
    heads = [module.get_output_embeddings() for module in told]  # type: ignore[operator]
    layers += [head for head in heads if head is not None]
    found = {id(parameter) for layer in layers for parameter in layer.parameters()}
    return tuple(parameter for parameter in blocks.outside if id(parameter) in found)


def _named(model: nn.Module, path: str) -> str:
    lists = (nn.ModuleList, nn.Sequential)
    names = [name for name, module in model.named_modules() if isinstance(module, lists)]
    if path in names:
        return path
    raise SpecError(
        f"blocks={path!r}: the model has no list of modules of this name{nearest(path, names)}"
        f"; it has {', '.join(names) or 'none'}"
    )


def _largest(model: nn.Module) -> str:
    sizes: dict[str, int] = {}
    for name, module in model.named_modules():
        # A list within a block, such as experts, is a part of that block.
        inner = any(name.startswith(f"{outer}.") for outer in sizes)
        if isinstance(module, nn.ModuleList) and len(module) and not inner:
            sizes[name] = sum(parameter.numel() for parameter in module.parameters())
    if not sizes or not max(sizes.values()):
        raise SpecError(
            f"{type(model).__name__} has no nn.ModuleList of blocks: name the list as `blocks`"
        )
    first, *others = sorted(sizes, key=lambda name: -sizes[name])
    rivals = [name for name in others if sizes[name] >= _RIVAL * sizes[first]]
    if rivals:
        names = ", ".join(map(repr, [first, *rivals]))
        raise SpecError(f"{names} could each be the decoder's blocks: name one as `blocks`")
    return first


def _refuse_shared(
    model: nn.Module, path: str, inside: tuple[tuple[nn.Parameter, ...], ...]
) -> None:
    """Raise SpecError where a block's parameter is also another block's, or lies outside too."""
    owners = Counter(id(parameter) for block in inside for parameter in block)
    named = model.named_parameters(remove_duplicate=False)
    elsewhere = {id(p) for name, p in named if not name.startswith(f"{path}.")}
    shared = [key for key, count in owners.items() if count > 1 or key in elsewhere]
    if shared:
        raise SpecError(
            f"blocks of {path!r} share {len(shared)} parameters with each other or the rest of the"
            " model, which cannot be frozen block by block"
        )
