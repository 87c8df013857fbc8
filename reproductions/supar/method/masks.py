"""Masks for the linear layers of any module: static random ones, or any that are attached.

Masked weights are stored as zeros, and their gradients are set to zero as they arrive. So the
forward pass is the plain linear layer, no optimizer that moves along (scaled, averaged,
decayed) gradients ever leaves zero, and clipping sees active entries only.

Source: arXiv 2405.15743, section 2 (unstructured, static, drawn once); deviates from the
authors' code, which draws Bernoulli masks and neither saves nor restores them.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.supar.method.density import Density, check_density, density_of

MASK = "weight_mask"
"""Name of the buffer beside `weight`, True where a weight is kept; it is part of state_dict."""

Pattern = Literal["exact", "bernoulli"]
_DENSE = "_dense_gradient"


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
    Raises SpecError for anything but an unmasked nn.Linear with a weight of its own.
    """
    layers = list(layers)
    check_density(density, layers)
    if pattern not in ("exact", "bernoulli"):
        raise SpecError(f"pattern={pattern!r}: need 'exact' or 'bernoulli'")
    chosen = {name: linear_named(model, name) for name in layers}
    for name, module in chosen.items():
        kept = density_of(density, name)
        if kept < 1.0:
            mask = draw_mask(module.weight.shape, kept, generator=generator, pattern=pattern)
            attach_mask(module, mask.to(module.weight.device))


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
    left_out = set(exclude)
    names = [name for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    if unknown := sorted(left_out - set(names)):
        raise SpecError(f"exclude names {unknown[0]!r}, which is no linear layer of this model")
    readout = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    forgotten = [n for n in names if n not in left_out and model.get_submodule(n) is readout]
    if forgotten:
        raise SpecError(f"{forgotten[0]!r} is the readout, which no mask fits: exclude it")
    return [name for name in names if name not in left_out]


def mask_of(model: nn.Module, parameter: str) -> Tensor | None:
    """Return the mask of a parameter by its name, or None where it has none."""
    layer, _, leaf = parameter.rpartition(".")
    return getattr(model.get_submodule(layer), MASK, None) if leaf == "weight" else None


def masked_layers(model: nn.Module) -> dict[str, nn.Linear]:
    """Return the layers that have a mask, by name."""
    return {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and hasattr(module, MASK)
    }


def max_abs_masked(model: nn.Module) -> float:
    """Return the largest magnitude of a masked weight; 0.0 unless something broke the masks."""
    return max(
        (
            float(module.weight.detach()[~getattr(module, MASK)].abs().max())
            for module in masked_layers(model).values()
            if not bool(getattr(module, MASK).all())
        ),
        default=0.0,
    )


def attach_mask(module: nn.Linear, mask: Tensor) -> None:
    """Mask a layer's weight in place; `mask` is kept as its buffer, True where a weight is kept."""
    module.register_buffer(MASK, mask)
    with torch.no_grad():
        module.weight.mul_(mask)
    module.register_forward_pre_hook(_follow_weight)
    _hook_gradient(module)


@contextlib.contextmanager
def dense_gradients(model: nn.Module) -> Iterator[None]:
    """Let backward passes leave whole gradients, those of masked weights too.

    For methods that choose masks by them; they must not reach an optimizer as they are.
    """
    layers = masked_layers(model).values()
    for layer in layers:
        layer.__dict__[_DENSE] = True
    try:
        yield
    finally:
        for layer in layers:
            del layer.__dict__[_DENSE]


def linear_named(model: nn.Module, name: str) -> nn.Linear:
    """Return an unmasked nn.Linear with a weight of its own; raise SpecError for anything else."""
    try:
        module = model.get_submodule(name)
    except AttributeError as error:
        raise SpecError(f"layer {name!r}: no such layer in this model") from error
    if not isinstance(module, nn.Linear):
        raise SpecError(f"layer {name!r} is a {type(module).__name__}: only nn.Linear has masks")
    if hasattr(module, MASK):
        raise SpecError(f"layer {name!r} has a mask already: sparsify a model once")
    owners = [n for n, p in model.named_parameters(remove_duplicate=False) if p is module.weight]
    if len(owners) > 1:
        raise SpecError(f"layer {name!r} shares its weight ({', '.join(owners)}): cannot mask it")
    return module


def _hook_gradient(module: nn.Linear) -> None:
    # Weakly: the garbage collector cannot see a cycle through a hook, so the layer, and its
    # weight with it, would live for ever.
    layer = weakref.ref(module)

    def mask_gradient(weight: Tensor) -> None:
        owner = layer()
        if owner is not None and weight.grad is not None and not owner.__dict__.get(_DENSE):
            weight.grad.mul_(getattr(owner, MASK))

    module.weight.register_post_accumulate_grad_hook(mask_gradient)
    module.__dict__["_masked_weight_id"] = id(module.weight)


def _follow_weight(module: nn.Module, _: Any) -> None:
    # copy.deepcopy and load_state_dict(assign=True) bring a new parameter without our hook.
    assert isinstance(module, nn.Linear)
    if module.__dict__["_masked_weight_id"] != id(module.weight):
        _hook_gradient(module)
