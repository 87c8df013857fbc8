"""Norms by layer: of weights, of low-rank adapters, and of what training has changed.

A layer is what the paper's Figures 2 and 12 have on their axis: the token embedding, the position
embedding where there is one, each decoder block, and the head; the final norm is none of them. Its
norm is the L2 norm of all its parameters put end to end. Sums are taken in float64.

Letters: R rank, I inputs, O outputs of an adapted layer; A is (R, I), B is (O, R).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from peft.tuners.lora import LoraLayer
from torch import Tensor, nn

from reproductions.lisa.method.blocks import find_blocks
from reproductions.lisa.norms.experiment import EMBEDDING, HEAD, POSITIONS, block_name


@dataclass(frozen=True, kw_only=True, slots=True)
class Adapter:
    """The pair of factors beside a weight: its update is scale * B A."""

    a_RI: Tensor
    b_OR: Tensor
    scale: float
    embeds: bool
    """Whether the weight is an embedding, where peft draws B and sets A to zero; of a linear layer
    it draws A and sets B to zero."""

    def update(self) -> Tensor | None:
        """Return scale * B A, shape (O, I); None where a factor is zero, as peft draws them."""
        if not (self.a_RI.any() and self.b_OR.any()):
            return None
        return self.scale * (self.b_OR.detach().double() @ self.a_RI.detach().double())


@dataclass(frozen=True, kw_only=True, slots=True)
class Weight:
    """One parameter of a layer, as it is now."""

    value: Tensor
    """(O, I) where it has an adapter, so turned for embeddings and GPT-2's layers; else as it is
    stored."""
    adapter: Adapter | None = None


class LayerNorms(NamedTuple):
    """What is measured of one layer."""

    adapter: float | None
    """Norm of all A and B; None without adapters."""
    change: float
    """Norm of scale * B A where adapted, of theta_t - theta_0 where not."""
    weight: float
    """Norm of the parameters, adapters merged into them."""


def layers_of(model: nn.Module) -> dict[str, tuple[Weight, ...]]:
    """Return a causal language model's layers, of peft or plain, with the weights they have now.

    By name, in the figure's order: `embedding`, `positions`, `block 0` and on, `head`. A head tied
    to the token embedding is no layer of its own, unless it has an adapter of its own: then it is
    merged into another weight than the embedding's.
    """
    path = find_blocks(model).path
    # The embedding that an adapter wraps is found as the adapter's; tokens come before positions.
    embeddings = [
        module
        for name, module in model.named_modules()
        if isinstance(_plain(module), nn.Embedding)
        and not name.startswith(f"{path}.")
        and not name.endswith(".base_layer")
    ]
    modules = dict(zip((EMBEDDING, POSITIONS), embeddings, strict=False))
    stack: Iterable[nn.Module] = model.get_submodule(path)  # type: ignore[assignment]
    modules |= {block_name(number): block for number, block in enumerate(stack)}
    head: Any = model.get_output_embeddings()  # type: ignore[operator]
    if isinstance(head, LoraLayer) or head.weight is not _plain(embeddings[0]).weight:
        modules[HEAD] = head
    return {name: tuple(_weights(module)) for name, module in modules.items()}


def adapter_norm(weights: Iterable[Weight]) -> float | None:
    """Return the norm of all factors of a layer's adapters, or None without adapters."""
    adapters = [weight.adapter for weight in weights if weight.adapter]
    return _norm(t for one in adapters for t in (one.a_RI, one.b_OR)) if adapters else None


def drawn_norm(weights: Iterable[Weight]) -> float | None:
    """Return what `adapter_norm` is as peft draws adapters: the root of its expected square.

    sqrt(R / 3) for a linear layer, of uniform entries in +-1 / sqrt(I); sqrt(O R) for an
    embedding, of standard normal ones. None without adapters.

    >>> a, b = torch.zeros(128, 5), torch.zeros(3, 128)
    >>> linear = Adapter(a_RI=a, b_OR=b, scale=1.0, embeds=False)
    >>> round(drawn_norm([Weight(value=b @ a, adapter=linear)] * 7), 2)  # a block of LLaMA
    17.28
    """
    squares = [
        weight.adapter.b_OR.numel() if weight.adapter.embeds else len(weight.adapter.a_RI) / 3
        for weight in weights
        if weight.adapter
    ]
    return math.sqrt(math.fsum(squares)) if squares else None


def merged_norm(weights: Iterable[Weight]) -> float:
    """Return the norm of a layer's parameters with their updates added."""
    return _norm(_merged(weight) for weight in weights)


class NormTrace:
    """Norms of a model's layers before training, and their mean over the steps.

    The mean over optimizer steps is the paper's w(l) = 1/T sum_t ||theta_t(l)||, of each quantity.
    """

    def __init__(self, model: nn.Module) -> None:
        """Take a model that is ready to train, adapters and all."""
        self._model = model
        layers = layers_of(model)
        self._start = {
            name: [weight.value.detach().clone() for weight in weights if not weight.adapter]
            for name, weights in layers.items()
        }
        self.drawn: dict[str, float | None] = {n: drawn_norm(w) for n, w in layers.items()}
        """What the initialiser gives adapters."""
        self.first: Mapping[str, LayerNorms] = self._measure()
        """Before the first step."""
        self._steps: list[dict[str, LayerNorms]] = []

    def record(self) -> None:
        """Measure, after an optimizer step."""
        self._steps.append(self._measure())

    def mean(self) -> dict[str, LayerNorms]:
        """Return the mean over the recorded steps, of which there is one at least."""
        of_layers = {name: zip(*(s[name] for s in self._steps), strict=True) for name in self.first}
        return {name: LayerNorms(*map(_mean, values)) for name, values in of_layers.items()}

    def _measure(self) -> dict[str, LayerNorms]:
        return {
            name: LayerNorms(
                adapter=adapter_norm(weights),
                change=_norm(_changes(weights, self._start[name])),
                weight=merged_norm(weights),
            )
            for name, weights in layers_of(self._model).items()
        }


def _mean(values: tuple[Any, ...]) -> Any:
    """Return the mean of norms, or None of a layer without adapters."""
    return None if None in values else math.fsum(values) / len(values)


def _changes(weights: Iterable[Weight], start: Iterable[Tensor]) -> Iterator[Tensor]:
    """Yield how far weights have come: adapted ones by their updates, others since the start."""
    then = iter(start)
    for weight in weights:
        if not weight.adapter:
            yield weight.value.detach() - next(then)
        elif (update := weight.adapter.update()) is not None:
            yield update


def _merged(weight: Weight) -> Tensor:
    update = weight.adapter.update() if weight.adapter else None
    return weight.value if update is None else weight.value.detach() + update


def _norm(tensors: Iterable[Tensor]) -> float:
    norms = (torch.linalg.vector_norm(one.detach(), dtype=torch.float64) for one in tensors)
    return math.sqrt(math.fsum(float(norm) ** 2 for norm in norms))


def _weights(module: nn.Module) -> Iterator[Weight]:
    """Yield a module's parameters, adapters beside what they adapt."""
    if isinstance(module, LoraLayer):
        base: Any = module.get_base_layer()
        embeds = isinstance(base, nn.Embedding)
        # peft's name for GPT-2's layers, which are stored (inputs, outputs).
        turned = embeds or module.fan_in_fan_out
        value = base.weight.T if turned else base.weight
        yield Weight(value=value, adapter=_adapter(module, embeds=embeds))
        rest = (p for p in base.parameters() if p is not base.weight)
        yield from (Weight(value=parameter) for parameter in rest)
        return
    for parameter in module.parameters(recurse=False):
        yield Weight(value=parameter)
    for child in module.children():
        yield from _weights(child)


def _adapter(layer: Any, *, embeds: bool) -> Adapter:
    (name,) = layer.active_adapters
    factors = (
        (layer.lora_embedding_A[name], layer.lora_embedding_B[name])
        if embeds
        else (layer.lora_A[name].weight, layer.lora_B[name].weight)
    )
    scale = float(layer.scaling[name])
    return Adapter(a_RI=factors[0], b_OR=factors[1], scale=scale, embeds=embeds)


def _plain(module: Any) -> Any:
    """Return what an adapter wraps, or the module itself."""
    return module.get_base_layer() if isinstance(module, LoraLayer) else module
