"""What each parameter is to a parameterization: as its user says, or where there is no doubt."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from harness.errors import SpecError

if TYPE_CHECKING:
    from torch import Tensor, nn

Role = Literal["embedding", "hidden", "vector"]
"""`hidden`: a matrix whose two sides grow with the width, the only kind that is sparsified.
`embedding`: a matrix with one such side (input, positions, readout). `vector`: norms, biases."""
Roles = Mapping[str, Role]
"""The role of every parameter, by its name."""

SHORT = 1 / 4
"""Of the hidden matrices' smallest side: no longer is a side that does not grow with the width."""


def infer_roles(
    model: nn.Module, hidden: Iterable[str], *, embeddings: Iterable[str] = ()
) -> dict[str, Role]:
    """Name the role of every parameter of `model`; a tied one has one name, the first.

    hidden, embeddings: names of layers, of modules that hold layers, or of parameters; `*` stands
    for any letters. All matrices in them get that role; what both name is an embedding.

    A matrix in neither is an embedding where there is no doubt: the table of an nn.Embedding, the
    weight of a depthwise convolution, and that of an nn.Linear or convolution with one short side,
    at most a quarter of the smallest side of the hidden ones, outside of their numbered blocks
    (inputs, readouts). Raises SpecError with the list of all others (an untied readout of tokens,
    GPT-2's Conv1D, fused experts, a router, in_proj_weight of nn.MultiheadAttention, convolutions
    in groups, packed weights), and for a table or a depthwise convolution among the hidden.
    """
    outer = _matrices_in(model, embeddings)
    inner = _matrices_in(model, hidden) - outer
    parameters = dict(model.named_parameters())
    never, sides, whole = _layers(model)
    if named := sorted(inner & never.keys()):
        raise SpecError(f"{named[0]} is {never[named[0]]}: no layer with it is hidden")
    smallest = min((min(sides.get(n, parameters[n].shape[-2:])) for n in inner), default=0)
    outer |= never.keys() | _inputs_and_readouts({n: sides[n] for n in whole}, inner, smallest)
    roles: dict[str, Role] = {}
    for name, parameter in parameters.items():
        if name in inner:
            roles[name] = "hidden"
        elif name in outer:
            roles[name] = "embedding"
        elif parameter.ndim < 2 and name not in sides:
            roles[name] = "vector"
    if untold := [name for name in parameters if name not in roles]:
        raise SpecError(
            f"no role is sure for {_listed(model, untold)}: name each in hidden= if both of its"
            " sides grow with the width, in embeddings= if one does"
        )
    return roles


def _matrices_in(model: nn.Module, names: Iterable[str]) -> set[str]:
    """Return the first names of all matrices that are so named, or lie in modules so named."""
    first = {parameter: name for name, parameter in model.named_parameters()}
    every = [(n, p) for n, p in model.named_parameters(remove_duplicate=False) if p.ndim >= 2]
    found: set[str] = set()
    for name in [names] if isinstance(names, str) else names:
        hits = {first[p] for n, p in every if fnmatchcase(n, name) or fnmatchcase(n, f"{name}.*")}
        if not hits:
            raise SpecError(f"no parameter is a matrix in {name!r}: name layers with weights")
        found |= hits
    return found


def _layers(model: nn.Module) -> tuple[dict[str, str], dict[str, tuple[int, int]], set[str]]:
    """Look at layers of torch, by the first names of their weights.

    Returns which are never hidden, and what they are; the two sides of the others, from their
    features (of one group of channels); and which of those store just that matrix, or its
    transpose.
    """
    from torch.nn import Embedding, EmbeddingBag, Linear
    from torch.nn.modules.conv import _ConvNd

    first: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
    never: dict[str, str] = {}
    sides: dict[str, tuple[int, int]] = {}
    whole: set[str] = set()
    for module in model.modules():
        # A parametrized weight is computed: its parameters are others, to be named.
        if not isinstance(module, Embedding | EmbeddingBag | Linear | _ConvNd):
            continue
        if module.weight not in first:
            continue
        name = first[module.weight]
        if isinstance(module, Embedding | EmbeddingBag):
            never[name] = "the table of an nn.Embedding"
        elif isinstance(module, Linear):
            sides[name] = (module.out_features, module.in_features)
        elif module.groups == module.in_channels > 1:
            never[name] = "the weight of a depthwise convolution"
        else:
            groups = module.groups
            sides[name] = (module.out_channels // groups, module.in_channels // groups)
        if name in sides and sorted(module.weight.shape[:2]) == sorted(sides[name]):
            whole.add(name)
    return never, sides, whole


def _inputs_and_readouts(
    layers: Mapping[str, tuple[int, int]], hidden: Iterable[str], smallest: int
) -> set[str]:
    """Return the layers of which one side is surely short at any width.

    Not one of two short sides, which may be a narrower stage, nor one in a numbered block with
    hidden ones, whose short side may grow with them: a bottleneck, keys of a single head, steps
    fused with states.
    """
    blocks = {block for name in hidden for block in _blocks_of(name)}
    return {
        name
        for name, sides in layers.items()
        if min(sides) <= SHORT * smallest < max(sides) and blocks.isdisjoint(_blocks_of(name))
    }


def _blocks_of(name: str) -> set[str]:
    """Return the numbered modules that a parameter lies in: `layers.0.` of layers.0.up.weight."""
    return {name[: number.end()] for number in re.finditer(r"(?<![^.])\d+\.", name)}


def _listed(model: nn.Module, names: Iterable[str]) -> str:
    """Return names with their shapes, those that differ in a number alone as one."""
    groups = defaultdict(list)
    for name in names:
        shape = " x ".join(map(str, model.get_parameter(name).shape))
        groups[re.sub(r"(^|\.)\d+(?=\.)", r"\1*", name), shape].append(name)
    return ", ".join(
        f"{pattern if len(alike) > 1 else alike[0]} ({shape})"
        for (pattern, shape), alike in groups.items()
    )
