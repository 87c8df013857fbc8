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

    A matrix in neither is an embedding where there is no doubt: the table of an nn.Embedding, and
    the weight of an nn.Linear or convolution with a short side, at most a quarter of the smallest
    side of the hidden ones (inputs, readouts). Raises SpecError with the list of all others (an
    untied readout of tokens, GPT-2's Conv1D, fused experts, a router, in_proj_weight of
    nn.MultiheadAttention), and for a table of an nn.Embedding among the hidden.
    """
    outer = _matrices_in(model, embeddings)
    inner = _matrices_in(model, hidden) - outer
    parameters = dict(model.named_parameters())
    tables, layers = _tables_and_layers(model)
    if tied := sorted(inner & tables):
        raise SpecError(f"{tied[0]} is the table of an nn.Embedding: no layer with it is hidden")
    smallest = min((min(layers.get(n, parameters[n].shape[-2:])) for n in inner), default=0)
    roles: dict[str, Role] = {}
    for name, parameter in parameters.items():
        if parameter.ndim < 2:
            roles[name] = "vector"
        elif name in inner:
            roles[name] = "hidden"
        elif name in outer | tables or (name in layers and min(layers[name]) <= SHORT * smallest):
            roles[name] = "embedding"
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


def _tables_and_layers(model: nn.Module) -> tuple[set[str], dict[str, tuple[int, ...]]]:
    """Return the first names of tables of embeddings, and the two sides of layers' weights."""
    from torch.nn import Embedding, EmbeddingBag, Linear
    from torch.nn.modules.conv import _ConvNd

    first: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
    tables: set[str] = set()
    layers: dict[str, tuple[int, ...]] = {}
    for module in model.modules():
        # A parametrized weight is computed: its parameters are others, to be named.
        if isinstance(module, Embedding | EmbeddingBag) and module.weight in first:
            tables.add(first[module.weight])
        elif isinstance(module, Linear | _ConvNd) and module.weight in first:
            layers[first[module.weight]] = tuple(module.weight.shape[:2])
    return tables, layers


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
