"""A model's parameters as one vector: which coordinate is which, and which group it is in.

The vector theta holds every learnable tensor (weights and biases of convolutions and linear
layers, of batch normalisation too) in the order of `named_parameters`; buffers stay outside
(section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from harness.errors import SpecError
from reproductions.asymvalley.method.directions import Group

_Conv, _Transposed = nn.modules.conv._ConvNd, nn.modules.conv._ConvTransposeNd
BatchNorm = nn.modules.batchnorm._BatchNorm
"""Of every number of axes, SyncBatchNorm, and what others derive from them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """One parameter tensor's place in the vector."""

    name: str
    shape: tuple[int, ...]
    start: int
    is_conv: bool
    """Whether it belongs to a convolution, as `is_bn` to a batch normalisation."""
    is_bn: bool
    is_bias: bool
    in_classifier: bool
    """Whether it belongs to the last linear layer."""
    in_first_blocks: bool
    """Whether it is in the first quarter of the layers (DEV-06)."""
    input_groups: int
    """0 where the first axis counts outputs. Else it counts inputs, in so many groups, and the
    second axis the outputs of one group, as in transposed convolutions."""

    @property
    def stop(self) -> int:
        return self.start + math.prod(self.shape)

    def filters(self, tensor: Tensor) -> Tensor:
        """Return a view of a weight with two or more axes, shape (groups, filters of one, ...)."""
        if not self.input_groups:
            return tensor.unsqueeze(0)
        return tensor.view(self.input_groups, -1, *tensor.shape[1:]).transpose(1, 2)


@dataclass(frozen=True, slots=True)
class Layout:
    """All parameters of a model, in the order of the vector."""

    slots: tuple[Slot, ...]

    @property
    def size(self) -> int:
        """P, the length of the vector."""
        return self.slots[-1].stop if self.slots else 0

    def flatten(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Return the vector of named tensors, shape (P,), a copy.

        Raises SpecError where a tensor is missing or has another shape, as a checkpoint of
        another architecture has.
        """
        parts = []
        for slot in self.slots:
            tensor = tensors.get(slot.name)
            if tensor is None or tuple(tensor.shape) != slot.shape:
                found = "is missing" if tensor is None else f"has shape {tuple(tensor.shape)}"
                raise SpecError(
                    f"parameter {slot.name} {found}, the model needs {slot.shape}: hand in a"
                    " checkpoint of the same architecture"
                )
            parts.append(tensor.detach().reshape(-1))
        return torch.cat(parts)

    def split(self, vector_P: Tensor) -> dict[str, Tensor]:
        """Return views of a vector, by parameter name and in the parameters' shapes."""
        self.check(vector_P)
        return {slot.name: vector_P[slot.start : slot.stop].view(slot.shape) for slot in self.slots}

    def check(self, vector_P: Tensor) -> None:
        """Raise SpecError unless a vector is a tensor with one number per parameter."""
        if not isinstance(vector_P, Tensor):
            raise SpecError(f"a direction is a tensor, not a {type(vector_P).__name__}")
        if tuple(vector_P.shape) != (self.size,):
            raise SpecError(
                f"a direction of shape {tuple(vector_P.shape)} for {self.size} parameters: flatten"
                " it with this model's layout"
            )

    def mask(self, group: Group) -> Tensor:
        """Return which coordinates belong to a group, shape (P,), bool.

        Of the five parts of Figure 8 the biases of batch normalisation are in `other_bias`: the
        paper names none for them (DEV-06).
        Raises SpecError where the model has no such parameter.
        """
        mask_P = torch.zeros(self.size, dtype=torch.bool)
        for slot in self.slots:
            if _belongs(slot, group):
                mask_P[slot.start : slot.stop] = True
        if not mask_P.any():
            raise SpecError(
                f"group {group!r} is empty: this model has no such parameter, leave the group out"
            )
        return mask_P

    @property
    def has_batch_norm(self) -> bool:
        return any(slot.is_bn for slot in self.slots)


def layout_of(model: nn.Module, *, classifier: str | None = None) -> Layout:
    """Return the layout of a model's parameters.

    classifier: name of its last linear layer; found where it is None: the module's attribute
    `classifier` if that is linear, else the linear layer defined last.
    Raises SpecError for a model without parameters, or with lazy ones, or a name that is no linear
    layer.
    """
    check_made(model)
    last = _classifier_name(model, classifier)
    owners = {
        f"{name}.{leaf}" if name else leaf: (name, module)
        for name, module in model.named_modules()
        for leaf, _ in module.named_parameters(recurse=False)
    }
    named = list(model.named_parameters())
    if not named:
        raise SpecError("the model has no parameters: there is no valley to walk in")
    layers = list(dict.fromkeys(owners[name][0] for name, _ in named if name in owners))
    first = set(layers[: max(1, len(layers) // 4)])
    slots, start = [], 0
    for name, parameter in named:
        owner, module = owners[name]
        slot = Slot(
            name=name,
            shape=tuple(parameter.shape),
            start=start,
            is_conv=isinstance(module, _Conv),
            is_bn=isinstance(module, BatchNorm),
            is_bias=_names_bias(name.rpartition(".")[2]),
            in_classifier=owner == last,
            in_first_blocks=owner in first,
            input_groups=_input_groups(module),
        )
        slots.append(slot)
        start = slot.stop
    return Layout(tuple(slots))


def check_made(model: nn.Module) -> None:
    """Raise SpecError for a model with lazy layers that have seen no images yet."""
    for name, tensor in chain(model.named_parameters(), model.named_buffers()):
        if is_lazy(tensor):
            raise SpecError(f"{name} has no shape yet: run the lazy model on images once")


def parameters_vector(model: nn.Module) -> Tensor:
    """Return a model's parameters as one vector, shape (P,), a copy."""
    return torch.cat([p.detach().reshape(-1) for _, p in model.named_parameters()])


def same_sign_ratio(first_P: Tensor, second_P: Tensor) -> float:
    """Return the share of coordinates whose product is positive: zeros agree with nothing.

    >>> same_sign_ratio(torch.tensor([1.0, -2.0, 3.0, 0.0]), torch.tensor([5.0, -1.0, -1.0, 0.0]))
    0.5
    """
    if first_P.shape != second_P.shape:
        raise SpecError(
            f"signs of shapes {tuple(first_P.shape)} and {tuple(second_P.shape)}: need equal ones"
        )
    # Signs, since a product of two small numbers may underflow to zero.
    return float((first_P.sign() * second_P.sign() > 0).double().mean())


def _classifier_name(model: nn.Module, given: str | None) -> str:
    modules: dict[str, nn.Module] = dict(model.named_modules())
    linear = [name for name, module in modules.items() if isinstance(module, nn.Linear)]
    if given is not None:
        if given not in linear:
            raise SpecError(f"classifier={given!r} is no linear layer: one of {linear}")
        return given
    named = getattr(model, "classifier", None)
    found = [name for name in linear if modules[name] is named]
    return (found or linear or [""])[-1]


def _input_groups(module: nn.Module) -> int:
    return module.groups if isinstance(module, _Transposed) else int(_is_transposed_linear(module))


def _is_transposed_linear(module: nn.Module) -> bool:
    """Say whether a module is transformers' linear layer whose weight is transposed."""
    # By its name: transformers takes seconds to import, and most models have nothing of it.
    return type(module).__name__ == "Conv1D"


def _names_bias(leaf: str) -> bool:
    """Say whether a parameter is a bias, by its name in its module.

    >>> [_names_bias(leaf) for leaf in ("bias", "bias_ih_l0", "in_proj_bias", "weight_ih_l0")]
    [True, True, True, False]
    """
    return leaf == "bias" or leaf.startswith("bias_") or leaf.endswith("_bias")


def _belongs(slot: Slot, group: Group) -> bool:
    is_bn, in_classifier, is_weight = slot.is_bn, slot.in_classifier, not slot.is_bias
    return {
        "all": True,
        "clf": in_classifier and is_weight,
        "feat": not in_classifier,
        "layer1": slot.in_first_blocks,
        "conv": slot.is_conv and is_weight,
        "bn": is_bn,
        "bn_weight": is_bn and is_weight,
        "clf_weight": in_classifier and is_weight,
        "clf_bias": in_classifier and not is_weight,
        "other_weight": is_weight and not is_bn and not in_classifier,
        "other_bias": not is_weight and not in_classifier,
    }.get(group, False)
