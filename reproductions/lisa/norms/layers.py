"""Norms by layer: of weights, of low-rank adapters, and of what training has changed.

A layer is what the paper's Figures 2 and 12 have on their axis: the token embedding, the position
embedding where there is one, each decoder block, and the head; the final norm is none of them. Its
norm is the L2 norm of all its parameters put end to end. Products B A are not formed, and sums are
taken in float64.

Letters: R rank, I inputs, O outputs of an adapted layer; A is (R, I), B is (O, R).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from peft.tuners.lora import LoraLayer
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.lisa.method.blocks import find_blocks
from reproductions.lisa.norms.experiment import EMBEDDING, HEAD, POSITIONS, block_name

_ROWS = 1024
"""Rows of a weight that are turned to float64 at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Adapter:
    """The pair of factors beside a weight: its update is scale * B A."""

    a_RI: Tensor
    b_OR: Tensor
    scale: float
    embeds: bool
    """Whether the weight is an embedding, where peft draws B and sets A to zero; of a linear layer
    it draws A and sets B to zero."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Weight:
    """One parameter of a layer, as it is now."""

    value: Tensor
    """(O, I) where it has an adapter, so turned for embeddings and GPT-2's layers; else as it is
    stored."""
    adapter: Adapter | None


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
    merged into another weight than the embedding's. Raises SpecError for merged adapters, several
    at a time, and those that are no plain product (DoRA).
    """
    path = find_blocks(model).path
    tokens: Any = model.get_input_embeddings()  # type: ignore[operator]
    head: Any = model.get_output_embeddings()  # type: ignore[operator]
    modules: dict[str, list[nn.Module]] = {EMBEDDING: [tokens]}
    if positions := _other_embeddings(model, path, tokens):
        modules[POSITIONS] = positions
    stack: Iterable[nn.Module] = model.get_submodule(path)  # type: ignore[assignment]
    modules |= {block_name(number): [block] for number, block in enumerate(stack)}
    if isinstance(head, LoraLayer) or head.weight is not _plain(tokens).weight:
        modules[HEAD] = [head]
    return {
        name: tuple(weight for module in of_layer for weight in _weights(module))
        for name, of_layer in modules.items()
    }


def adapter_norm(weights: Iterable[Weight]) -> float | None:
    """Return the norm of all factors of a layer's adapters, or None without adapters."""
    squares = [
        _square(factor)
        for weight in weights
        if weight.adapter
        for factor in (weight.adapter.a_RI, weight.adapter.b_OR)
    ]
    return math.sqrt(math.fsum(squares)) if squares else None


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


def update_norm(weights: Iterable[Weight]) -> float:
    """Return the norm of a layer's scale * B A."""
    return math.sqrt(math.fsum(_update_square(w.adapter) for w in weights if w.adapter))


def merged_norm(weights: Iterable[Weight]) -> float:
    """Return the norm of a layer's parameters with their updates added."""
    squares = []
    for weight in weights:
        squares.append(_square(weight.value))
        if weight.adapter:
            inner = _inner(weight.value, weight.adapter)
            squares += [2.0 * inner, _update_square(weight.adapter)]
    # Updates that undo a weight leave a rounding error, which may be below zero.
    return math.sqrt(max(math.fsum(squares), 0.0))


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
        self.first: dict[str, LayerNorms] = self._measure()
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
                change=math.hypot(update_norm(weights), _distance(weights, self._start[name])),
                weight=merged_norm(weights),
            )
            for name, weights in layers_of(self._model).items()
        }


def _mean(values: Sequence[Any]) -> Any:
    """Return the mean of norms, or None of a layer without adapters."""
    return None if None in values else math.fsum(values) / len(values)


def _distance(weights: Iterable[Weight], start: Sequence[Tensor]) -> float:
    now = [weight.value.detach() for weight in weights if not weight.adapter]
    return math.sqrt(math.fsum(_square(a - b) for a, b in zip(now, start, strict=True)))


def _square(tensor: Tensor) -> float:
    return float(torch.linalg.vector_norm(tensor.detach(), dtype=torch.float64)) ** 2


def _update_square(adapter: Adapter) -> float:
    """Return scale^2 ||B A||^2 as the trace of (B^T B)(A A^T), two (R, R) matrices."""
    if _is_zero(adapter):
        return 0.0
    a, b = adapter.a_RI.detach().double(), adapter.b_OR.detach().double()
    trace = float(((b.T @ b) * (a @ a.T)).sum())
    return adapter.scale**2 * max(trace, 0.0)


def _inner(value_OI: Tensor, adapter: Adapter) -> float:
    """Return scale <W, B A> as the sum of (B^T W) * A."""
    if _is_zero(adapter):
        return 0.0
    product_RI = torch.zeros_like(adapter.a_RI, dtype=torch.float64)
    parts = (torch.split(value_OI.detach(), _ROWS), torch.split(adapter.b_OR.detach(), _ROWS))
    for rows_OI, rows_OR in zip(*parts, strict=True):
        product_RI += rows_OR.double().T @ rows_OI.double()
    return adapter.scale * float((product_RI * adapter.a_RI.detach()).sum())


def _is_zero(adapter: Adapter) -> bool:
    # As drawn one factor is zero, and a model of 7B need not be multiplied to see it.
    return not (adapter.a_RI.any() and adapter.b_OR.any())


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
        yield from (Weight(value=parameter, adapter=None) for parameter in rest)
        return
    for parameter in module.parameters(recurse=False):
        yield Weight(value=parameter, adapter=None)
    for child in module.children():
        yield from _weights(child)


def _adapter(layer: Any, *, embeds: bool) -> Adapter:
    names = layer.active_adapters
    if len(names) != 1 or layer.merged or layer.lora_variant:
        raise SpecError(
            f"a {type(layer).__name__} has the adapters {names}, merged or of a variant: norms are"
            " of one plain adapter beside its weight"
        )
    (name,) = names
    factors = (
        (layer.lora_embedding_A[name], layer.lora_embedding_B[name])
        if embeds
        else (layer.lora_A[name].weight, layer.lora_B[name].weight)
    )
    scale = float(layer.scaling[name])
    return Adapter(a_RI=factors[0], b_OR=factors[1], scale=scale, embeds=embeds)


def _other_embeddings(model: nn.Module, path: str, tokens: nn.Module) -> list[nn.Module]:
    """Return embeddings outside of the blocks that are not the tokens': GPT-2's positions."""
    return [
        module
        for name, module in model.named_modules()
        if isinstance(_plain(module), nn.Embedding)
        and module is not tokens
        and not name.startswith(f"{path}.")
        # The embedding that an adapter wraps is found as the adapter's.
        and not name.endswith(".base_layer")
    ]


def _plain(module: Any) -> Any:
    """Return what an adapter wraps, or the module itself."""
    return module.get_base_layer() if isinstance(module, LoraLayer) else module
