"""Linear layers that compute with their kept weights alone, however they are reached.

A masked layer is the module that was there, under a class of ours, as torch's `fully_shard` and
`parametrize` change classes too: names, parameters and their order stay. Each forward pass of it
is one of two:

- of its own parameter: zeros are stored where weights are masked, and a hook on the parameter
  masks its gradient. This is the plain layer, and costs least;
- of anything else in the parameter's place (functional calls, transforms, compiled code, shards,
  replicas): W * M stands for W, and autograd does the rest.

So function and gradient are those of the sparse layer in any copy, state or call.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Collection, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear
from torch.nn.parameter import is_lazy
from torch.utils.hooks import unserializable_hook

from harness.errors import SpecError

MASK = "weight_mask"
"""Name of the buffer beside `weight`, True where a weight is kept; it is part of state_dict."""


class _Replaced(nn.Module):
    """What takes the place of a module's class."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Name both classes where the module's own is made of two: pickle finds no such class."""
        reduced = super().__reduce_ex__(protocol)
        if "made_of_two" not in type(self).__dict__:
            return reduced
        return (_blank, type(self).__bases__, *reduced[2:])


class MaskedLinear(_Replaced, nn.Linear):
    """A linear layer with the weights that its mask keeps."""

    weight_mask: Tensor
    density: float | None = None
    """With which the mask was drawn; None for a mask that came from elsewhere, or is to change."""
    has_dense_gradient: bool = False
    """Whether backward passes leave the gradients of masked weights too."""

    def forward(self, *given: Any, **named: Any) -> Any:
        """Do what the layer did, with its kept weights."""
        if _is_transformed() or not self.is_own():
            with masked_weight_of(self):
                return super().forward(*given, **named)
        self.store_zeros()
        return super().forward(*given, **named)

    def factor_of(self, values: Tensor) -> Tensor:
        """Return the mask as 0 and 1, split over ranks as `values` are."""
        # A CPU multiplies by bool several times slower.
        mask = self.weight_mask.to(torch.uint8)
        if hasattr(values, "device_mesh") and not hasattr(mask, "device_mesh"):
            from torch.distributed.tensor import DTensor, distribute_tensor

            assert isinstance(values, DTensor)
            # Every rank has the whole mask: with no source rank nothing is sent.
            return distribute_tensor(
                mask, values.device_mesh, values.placements, src_data_rank=None
            )
        return mask

    def masked_weight(self) -> Tensor:
        """Return W * M. Raises SpecError where torch computes the weight from others."""
        if hasattr(type(self), "weight"):
            raise SpecError(
                "a masked layer's weight is computed by torch.nn.utils.parametrize now, past its "
                "mask: remove that parametrization"
            )
        masked = self.weight * self.factor_of(self.weight)
        if self.has_dense_gradient:
            return self.weight + (masked - self.weight).detach()
        return masked

    def is_own(self) -> bool:
        """Say whether the weight is the parameter whose gradient this layer masks."""
        hooks = getattr(self._parameters.get("weight"), "_backward_hooks", None) or {}
        return any(getattr(hook, "layer", _nothing)() is self for hook in hooks.values())

    @torch.no_grad()
    def check_ranks(self) -> None:
        """Raise SpecError, on all ranks that share the weight, unless they have one mask.

        All of them have to call it.
        """
        if not hasattr(self.weight, "device_mesh"):
            return
        distributed, mesh = torch.distributed, self.weight.device_mesh
        lowest, highest = self.weight_mask.to(torch.uint8), self.weight_mask.to(torch.uint8)
        for axis in range(mesh.ndim):
            distributed.all_reduce(lowest, distributed.ReduceOp.MIN, mesh.get_group(axis))
            distributed.all_reduce(highest, distributed.ReduceOp.MAX, mesh.get_group(axis))
        if not torch.equal(lowest, highest):
            raise SpecError(
                "ranks that share a masked weight have other masks for it: give sparsify a "
                "generator of the same seed on every rank"
            )

    @torch.no_grad()
    def store_zeros(self) -> None:
        """Store zeros where weights are masked."""
        weight = self._parameters.get("weight")
        if weight is not None:
            weight.data.mul_(self.factor_of(weight))

    def max_abs_masked(self) -> float:
        """Return the largest magnitude that is stored where a weight is masked."""
        weight = self.weight.detach()
        largest = weight.masked_fill(self.factor_of(weight).bool(), 0.0).abs().max()
        return float(largest.full_tensor() if hasattr(largest, "full_tensor") else largest)

    def reset_parameters(self) -> None:
        """Draw a start as the layer did, and keep masked weights at zero."""
        super().reset_parameters()
        self.store_zeros()

    def register_parameter(self, name: str, param: nn.Parameter | None) -> None:
        """Take a new weight under the mask; refuse what torch.nn.utils.prune does."""
        if name == "weight_orig" and "weight" in self._parameters:
            raise SpecError(
                "torch.nn.utils.prune would overwrite the mask of this layer: give a layer that "
                "has none, by attach_mask, the mask that it chooses"
            )
        super().register_parameter(name, param)
        if name == "weight":
            _mask_gradient(self)

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        was_meta = self.weight_mask.is_meta
        applied = super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if was_meta and not self.weight_mask.is_meta:
            raise SpecError(
                "a mask that was drawn on the meta device is not known: call to_empty before "
                "sparsify"
            )
        return applied

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        # A copied parameter comes without hooks.
        _mask_gradient(self)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *given: Any, **named: Any
    ) -> None:
        super()._load_from_state_dict(state_dict, prefix, *given, **named)
        if f"{prefix}{MASK}" in state_dict:
            self._buffers[MASK] = self.weight_mask.bool()
            self.density = None
        self.store_zeros()

    def _save_to_state_dict(self, *given: Any, **named: Any) -> None:
        self.store_zeros()
        super()._save_to_state_dict(*given, **named)


class MaskedAttention(_Replaced, nn.MultiheadAttention):
    """Attention whose output projection is masked; it reads that layer and never calls it."""

    def forward(self, *given: Any, **named: Any) -> Any:
        """Do what the module did, with the projection's kept weights."""
        with masked_weight_of(self.out_proj):
            return super().forward(*given, **named)


@contextlib.contextmanager
def masked_weight_of(layer: nn.Module) -> Iterator[None]:
    """Let whoever reads a layer's weight meanwhile find no masked one in it."""
    if not isinstance(layer, MaskedLinear):
        yield
        return
    # What traces or transforms functions takes no writing for part of them.
    if not _is_transformed() and layer.is_own():
        layer.store_zeros()
        yield
        return
    # None where the weight is a parameter; replicas and shards have it as a plain attribute.
    before = layer.__dict__.get("weight")
    layer.__dict__["weight"] = layer.masked_weight()
    try:
        yield
    finally:
        if before is None:
            layer.__dict__.pop("weight", None)
        else:
            layer.__dict__["weight"] = before


def _is_transformed() -> bool:
    """Say whether this is compiled, or within a transform of torch.func."""
    # The second is what autograd.Function asks; torch has no public name for it.
    return torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()


def attach_mask(model: nn.Module, name: str, mask: Tensor, *, density: float | None = None) -> None:
    """Mask the weight of one layer of `model`, in place, for good.

    mask: of the weight's shape, True where a weight is kept; a copy becomes the layer's buffer.
    density: with which it was drawn, to be held against a parameterization's; None: unknown.
    Raises SpecError for a mask of another shape, and as `linear_named` does.
    """
    layer = linear_named(model, name)
    if mask.shape != layer.weight.shape:
        raise SpecError(
            f"layer {name!r}: a mask of shape {tuple(mask.shape)} for a weight of shape "
            f"{tuple(layer.weight.shape)}"
        )
    layer.register_buffer(MASK, mask.to(layer.weight.device, torch.bool, copy=True))
    _change_class(layer, MaskedLinear)
    assert isinstance(layer, MaskedLinear)
    layer.density = density
    layer.store_zeros()
    _mask_gradient(layer)
    layer.register_forward_pre_hook(_keep_off_fast_path)
    owner = _owner(model, name)
    if _is_attention(owner):
        _change_class(owner, MaskedAttention)


def linear_named(model: nn.Module, name: str) -> nn.Linear:
    """Return a layer that can have a mask; raise SpecError for any other.

    That is an nn.Linear without a mask, whose weight is a plain parameter of its own.
    """
    try:
        layer = model.get_submodule(name)
    except AttributeError as error:
        raise SpecError(f"layer {name!r}: no such layer in this model") from error
    if not isinstance(layer, nn.Linear):
        raise SpecError(f"layer {name!r} is a {type(layer).__name__}: only nn.Linear has masks")
    if isinstance(layer, MaskedLinear):
        raise SpecError(f"layer {name!r} has a mask already: sparsify a model once")
    weight = layer._parameters.get("weight")
    if weight is None:
        raise SpecError(
            f"layer {name!r}: its weight is computed (weight_norm, parametrize, prune), so remove "
            "that before it gets a mask"
        )
    whole = not is_lazy(weight) and not hasattr(weight, "__tensor_flatten__")
    if not whole or not weight.is_floating_point():
        raise SpecError(
            f"layer {name!r}: its weight is a {type(weight).__name__} of {weight.dtype}: mask it "
            "after LazyLinear's first batch, and before fully_shard or quantizing"
        )
    _check_owners(model, name, layer)
    return layer


def _check_owners(model: nn.Module, name: str, layer: nn.Linear) -> None:
    """Raise SpecError for a weight with several owners, or that is used past our classes."""
    owners = [n for n, p in model.named_parameters(remove_duplicate=False) if p is layer.weight]
    if len(owners) > 1:
        raise SpecError(f"layer {name!r} shares its weight ({', '.join(owners)}): cannot mask it")
    owner = _owner(model, name)
    if isinstance(layer, NonDynamicallyQuantizableLinear) and not _is_attention(owner):
        raise SpecError(
            f"layer {name!r} is read and never called by the attention that owns it: sparsify an "
            "nn.MultiheadAttention, or a model that holds one"
        )
    for module in (layer, owner) if _is_attention(owner) else (layer,):
        if "forward" in module.__dict__:
            raise SpecError(
                f"layer {name!r}: the forward pass of its {type(module).__name__} was replaced by "
                "an attribute, past any mask: sparsify before what did that (accelerate's hooks)"
            )


def _owner(model: nn.Module, name: str) -> nn.Module:
    """Return the module of which a layer is an attribute; the layer where it is all there is."""
    return model.get_submodule(name.rpartition(".")[0])


def _is_attention(module: nn.Module) -> bool:
    """Say whether a module reads its one linear layer and never calls it."""
    return isinstance(module, nn.MultiheadAttention)


@contextlib.contextmanager
def dense_gradients(layers: Collection[MaskedLinear]) -> Iterator[None]:
    """Let backward passes leave whole gradients, of forward passes that are made meanwhile.

    For methods that choose masks by them; they must not reach an optimizer as they are.
    """
    for layer in layers:
        layer.has_dense_gradient = True
    try:
        yield
    finally:
        for layer in layers:
            layer.has_dense_gradient = False


def _mask_gradient(layer: MaskedLinear) -> None:
    """Hook a layer's parameter, so that its gradient comes out masked; frozen ones have none."""
    weight = layer._parameters.get("weight")
    if weight is None or not weight.requires_grad:
        return
    # Weakly: the garbage collector cannot see a cycle through a hook, so the layer, and its
    # weight with it, would live for ever.
    owner = weakref.ref(layer)

    @unserializable_hook  # type: ignore[untyped-decorator]
    def mask(gradient: Tensor) -> Tensor | None:
        layer = owner()
        if layer is None or layer.has_dense_gradient:
            return None
        return gradient * layer.factor_of(gradient)

    mask.layer = owner
    weight.register_hook(mask)  # type: ignore[no-untyped-call]


def _nothing() -> None:
    """Stand for the layer of hooks that are not ours."""


def _keep_off_fast_path(module: nn.Module, _: Any) -> None:
    """Do nothing: nn.TransformerEncoderLayer reads weights itself unless a layer has a hook."""


def _change_class(module: Any, ours: type) -> None:
    module.__class__ = _class_of(ours, module.__class__)


@functools.cache
def _class_of(ours: Any, plain: Any) -> Any:
    """Return a class of ours over a plain one, the same whenever it is asked for."""
    if issubclass(ours, plain):
        return ours
    return type(f"Masked{plain.__name__}", (ours, plain), {"made_of_two": True})


def _blank(ours: type, plain: type) -> Any:
    made = _class_of(ours, plain)
    return made.__new__(made)
