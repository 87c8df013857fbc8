"""Masks by name: drawn for the linear layers of any module, found again, and held to a density.

What a masked layer is, and where its mask holds, is in `masked_layer`.

Source: arXiv 2405.15743, section 2 (unstructured, static, drawn once); deviates from the
authors' code, which draws Bernoulli masks and neither saves nor restores them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.supar.method.density import Density, check_density, check_kept, density_of
from reproductions.supar.method.masked_layer import (
    MASK,
    MaskedLinear,
    attach_mask,
    linear_named,
)

Pattern = Literal["exact", "bernoulli"]


def sparsify(
    model: nn.Module,
    *,
    layers: Iterable[str],
    density: Density,
    generator: torch.Generator,
    pattern: Pattern = "exact",
) -> None:
    """Mask the weights of linear layers, in place, for good.

    layers: names of nn.Linear modules, in the order in which their masks are drawn.
    density: fraction of weights kept; a layer of density 1 gets no mask, and draws none.
    generator: on the CPU, wherever the model is, so that masks do not depend on the device.
    pattern: `exact` keeps round(density * size) weights of each matrix, `bernoulli` each weight
    with that probability. At one seed the masks of lower density are subsets of the others.
    Raises SpecError for a layer that can have no mask (`linear_named`), and for a mask that keeps
    no weight; then no layer has changed.
    """
    layers = listed(layers)
    check_density(density, layers)
    if pattern not in ("exact", "bernoulli"):
        raise SpecError(f"pattern={pattern!r}: need 'exact' or 'bernoulli'")
    if not isinstance(generator, torch.Generator) or generator.device.type != "cpu":
        raise SpecError(f"generator={generator!r}: masks are drawn by a torch.Generator on the CPU")
    chosen = {name: linear_named(model, name) for name in layers}
    masks = {}
    for name, module in chosen.items():
        kept = density_of(density, name)
        if kept < 1.0:
            mask = draw_mask(module.weight.shape, kept, generator=generator, pattern=pattern)
            # A dry run's tensors have shapes and no values.
            if type(mask) is Tensor:
                check_kept(int(mask.sum()), name, kept)
            masks[name] = mask
    for name, mask in masks.items():
        attach_mask(model, name, mask, density=density_of(density, name))


def restore_masks(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Attach the masks that a state dict holds to a model that was built without any.

    For loaders that take the weights and leave the masks, `from_pretrained` of transformers for
    one. state: names and tensors as `state_dict` of the masked model gave them.
    Raises SpecError where it holds no mask, one that fits no layer, or a layer can have none.
    """
    names = {name.rpartition(".")[0]: name for name in state if name.rpartition(".")[2] == MASK}
    if not names:
        raise SpecError(f"this state holds no mask: none of its names ends with {MASK!r}")
    for layer, name in names.items():
        attach_mask(model, layer, state[name])


def draw_mask(
    shape: Iterable[int], density: float, *, generator: torch.Generator, pattern: Pattern
) -> Tensor:
    """Return a random mask of `shape`, True where a weight is kept."""
    shape = tuple(shape)
    if pattern == "bernoulli":
        return torch.rand(shape, generator=generator) < density
    size = torch.Size(shape).numel()
    order = torch.randperm(size, generator=generator)
    mask = torch.zeros(size, dtype=torch.bool)
    mask[order[: round(density * size)]] = True
    return mask.view(shape)


def linear_layers(model: nn.Module, *, exclude: Iterable[str]) -> list[str]:
    """Return the names of all nn.Linear modules except those named (readouts, for one).

    Raises SpecError where the readout of a model of transformers is not excluded.
    """
    left_out = set(listed(exclude))
    names = [name for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    if unknown := sorted(left_out - set(names)):
        raise SpecError(f"exclude names {unknown[0]!r}, which is no linear layer of this model")
    find_readout: Any = getattr(model, "get_output_embeddings", lambda: None)
    readout = find_readout()
    forgotten = [n for n in names if n not in left_out and model.get_submodule(n) is readout]
    if forgotten:
        raise SpecError(f"{forgotten[0]!r} is the readout, which no mask fits: exclude it")
    return [name for name in names if name not in left_out]


def listed(names: Iterable[str]) -> list[str]:
    """Return names as a list; raise SpecError for a single one, which has letters to iterate."""
    if isinstance(names, str):
        raise SpecError(f"{names!r} is one name where several are asked for: give [{names!r}]")
    return list(names)


def mask_of(model: nn.Module, parameter: str) -> Tensor | None:
    """Return the mask of a parameter by its name, or None where it has none."""
    layer, _, leaf = parameter.rpartition(".")
    module = model.get_submodule(layer)
    return module.weight_mask if leaf == "weight" and isinstance(module, MaskedLinear) else None


def masked_layers(model: nn.Module) -> dict[str, MaskedLinear]:
    """Return the layers that have a mask, by name."""
    return {n: module for n, module in model.named_modules() if isinstance(module, MaskedLinear)}


def max_abs_masked(model: nn.Module) -> float:
    """Return the largest magnitude that is stored where a weight is masked.

    0.0 unless something wrote there, NaN where that was one; the forward pass does not see it, and
    `state_dict` zeroes it.
    """
    found = [layer.max_abs_masked() for layer in masked_layers(model).values()]
    # Python's own max lets a NaN pass.
    return float(torch.tensor(found, dtype=torch.float64).max()) if found else 0.0


def check_masks(model: nn.Module, density: Density, roles: Mapping[str, str]) -> None:
    """Raise SpecError where a hidden parameter is not as sparse as the rules for it take it to be.

    density: of the rules. Masks that `sparsify` drew are compared; of others, which may be on
    their way to that density, only that they are there. Ranks of `fully_shard` need one mask.
    """
    for name, _ in model.named_parameters():
        if roles.get(name) != "hidden":
            continue
        layer = name.removesuffix(".weight")
        wanted = density_of(density, layer)
        module = model.get_submodule(name.rpartition(".")[0])
        if mask_of(model, name) is None and wanted != 1.0:
            raise SpecError(
                f"layer {layer!r} has no mask, and its rules are for density {wanted}: call "
                "sparsify, restore_masks or attach_full_masks first"
            )
        drawn = None
        if isinstance(module, MaskedLinear):
            module.check_ranks()
            drawn = module.density
        if drawn is not None and not math.isclose(drawn, wanted):
            raise SpecError(
                f"layer {layer!r} was sparsified to density {drawn}, and its rules are for "
                f"density {wanted}: give both the same"
            )
