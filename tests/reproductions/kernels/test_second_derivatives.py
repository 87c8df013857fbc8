"""Derivatives of derivatives of the kernels that autograd goes through, beside torch's own."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.autograd.graph import saved_tensors_hooks
from torch.func import grad, jvp, vjp, vmap

from harness.errors import SpecError
from reproductions.kernels.backend import implementation
from reproductions.kernels.linear_cross_entropy.plain import IGNORED
from reproductions.kernels.precision import tolerance

Of = Callable[[Tensor, Tensor], Tensor]
"""A number that is made of both factors."""
KERNEL = "linear_cross_entropy"
BACKENDS = ("plain", pytest.param("triton", marks=pytest.mark.kernels))


class Pair(NamedTuple):
    """A number by a kernel and by torch, and where they are differentiated."""

    ours: Of
    wanted: Of
    x: Tensor
    weight: Tensor

    def both(self, made: Callable[[Of, Tensor, Tensor], Any]) -> tuple[Any, Any]:
        """Return what is made of the kernel's number, and of torch's in float64."""
        return made(self.ours, self.x, self.weight), made(
            self.wanted, self.x.double(), self.weight.double()
        )


def drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def bands() -> None:
    """Leave allocations as they are: forward mode takes no output that is a view of a band."""


@pytest.fixture(params=BACKENDS)
def pair(request: pytest.FixtureRequest) -> Pair:
    """Return the kernel's number beside torch's; a cube, as losses are seldom linear in either."""
    ops, x, weight = implementation(KERNEL, request.param), drawn(7, 5, seed=1), drawn(6, 5, seed=2)
    targets = torch.tensor([0, 5, IGNORED, 2, 1, 3, 0])

    def our_loss(x: Tensor, weight: Tensor) -> Tensor:
        return ops.linear_cross_entropy(x, weight, targets, rows_at_once=3) + (x**3).sum()

    def wanted_loss(x: Tensor, weight: Tensor) -> Tensor:
        # Written out: torch's own cannot be followed back once it has a tangent.
        logits = (x @ weight.T)[targets != IGNORED]
        of_targets = logits[torch.arange(len(logits)), targets[targets != IGNORED]]
        return (logits.exp().sum(1).log() - of_targets).mean() + (x**3).sum()

    return Pair(our_loss, wanted_loss, x, weight)


def many_along_of_grad(of: Of, x: Tensor, weight: Tensor) -> Any:
    """As the inner loop of (FG)2U goes: forward over reverse."""
    tangents = torch.stack([weight.cos(), weight.sin(), weight])
    one = lambda tangent: jvp(grad(lambda w: of(x, w)), (weight,), (tangent,))[1]  # noqa: E731
    return vmap(one)(tangents)


def grad_of_along(of: Of, x: Tensor, weight: Tensor) -> Any:
    along = lambda x, w: jvp(of, (x, w), (x.detach().cos(), w.detach().sin()))[1]  # noqa: E731
    return grad(along, argnums=(0, 1))(x, weight)


def along_of_along(of: Of, x: Tensor, weight: Tensor) -> Any:
    along = lambda w: jvp(lambda w: of(x, w), (w,), (weight.cos(),))[1]  # noqa: E731
    return jvp(along, (weight,), (weight.sin(),))[1]


def along_of_tangent(of: Of, x: Tensor, weight: Tensor) -> Any:
    """A tangent has a tangent of its own."""
    along = lambda tangent: jvp(lambda w: of(x, w), (weight,), (tangent,))[1]  # noqa: E731
    return jvp(along, (weight.cos(),), (weight.sin(),))[1]


@torch.no_grad()
def along_of_vjp(of: Of, x: Tensor, weight: Tensor) -> Any:
    """Where gradients are off, so that none has a graph."""
    one = torch.ones((), dtype=x.dtype)
    return jvp(lambda w: vjp(lambda w: of(x, w), w)[1](one)[0], (weight,), (weight.cos(),))[1]


def many_vjps(of: Of, x: Tensor, weight: Tensor) -> Any:
    _, back = vjp(of, x, weight)
    return vmap(back)(torch.tensor([1.0, -2.0, 0.5], dtype=x.dtype))


def double_backward(of: Of, x: Tensor, weight: Tensor) -> Any:
    leaves = [each.clone().requires_grad_() for each in (x, weight)]
    first = torch.autograd.grad(of(*leaves), leaves, create_graph=True)
    return torch.autograd.grad(sum((each**2).sum() for each in first), leaves)


def along_of_backward(of: Of, x: Tensor, weight: Tensor) -> Any:
    """Forward over reverse without a graph of the gradient."""
    leaves = [each.clone().requires_grad_() for each in (x, weight)]
    with forward_ad.dual_level():
        dual = [forward_ad.make_dual(each, each.detach().cos()) for each in leaves]
        first = torch.autograd.grad(of(*dual), dual)
        return [forward_ad.unpack_dual(each).tangent for each in first]


def backward_of_along(of: Of, x: Tensor, weight: Tensor) -> Any:
    leaves = [each.clone().requires_grad_() for each in (x, weight)]
    with forward_ad.dual_level():
        dual = [forward_ad.make_dual(each, each.detach().cos()) for each in leaves]
        along = forward_ad.unpack_dual(of(*dual)).tangent
        return torch.autograd.grad(along, leaves)


def many_backwards(of: Of, x: Tensor, weight: Tensor) -> Any:
    leaves = [each.clone().requires_grad_() for each in (x, weight)]
    asked = torch.tensor([1.0, -2.0, 0.5], dtype=x.dtype)
    return torch.autograd.grad(of(*leaves), leaves, asked, is_grads_batched=True)


WAYS = (
    many_along_of_grad, grad_of_along, along_of_along, along_of_tangent, along_of_vjp, many_vjps,
    double_backward, along_of_backward, backward_of_along, many_backwards,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_derivatives_of_derivatives_are_torch_s(pair: Pair, way: Callable[..., Any]) -> None:
    found, wanted = (torch.utils._pytree.tree_leaves(each) for each in pair.both(way))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert other.any()
        allowed = tolerance(torch.float32, 30, size=float(other.abs().max()))
        torch.testing.assert_close(one.double(), other, **allowed)


def by_triton() -> tuple[Of, Tensor, Tensor]:
    ops, x, weight = implementation(KERNEL, "triton"), drawn(7, 5, seed=1), drawn(6, 5, seed=2)
    targets = torch.tensor([0, 5, IGNORED, 2, 1, 3, 0])
    return lambda x, weight: ops.linear_cross_entropy(x, weight, targets), x, weight


@pytest.mark.kernels
def test_what_is_differentiated_once_is_the_kernel_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*given: Any, **named: Any) -> Any:
        raise AssertionError("plain torch differentiates")

    of, x, weight = by_triton()
    module = implementation(KERNEL, "plain")
    monkeypatch.setattr(module, "gradients", refused)
    leaves = [each.clone().requires_grad_() for each in (x, weight)]
    of(*leaves).backward()  # type: ignore[no-untyped-call]
    assert all(each.grad is not None for each in leaves)
    with pytest.raises(AssertionError, match="plain torch"):
        torch.autograd.grad(of(*leaves), leaves, create_graph=True)
    monkeypatch.setattr(module, "along", refused)
    one = lambda tangent: jvp(lambda w: of(x, w), (weight,), (tangent,))[1]  # noqa: E731
    assert vmap(one)(torch.stack([weight, weight.cos()])).all()
    with torch.no_grad():
        assert jvp(of, tuple(leaves), (x, weight))[1] != 0


@pytest.mark.kernels
def test_only_what_was_given_and_what_the_kernel_made_is_kept_and_once() -> None:
    """Inputs are kept as they are, and copied nowhere; nothing outlives the backward."""
    of, *given = by_triton()
    leaves = [each.requires_grad_() for each in given]
    kept: list[int] = []

    def seen(tensor: Tensor) -> Tensor:
        kept.append(tensor.untyped_storage().data_ptr())
        return tensor

    with saved_tensors_hooks(seen, lambda tensor: tensor):
        y = of(*leaves)
    assert len(set(kept)) == len(kept)
    # Inputs, targets, both gradients and the scale; no logits.
    assert len(kept) == 6
    assert {each.untyped_storage().data_ptr() for each in leaves} <= set(kept)
    moved = leaves[0] * 2
    where = weakref.ref(moved)
    y = of(moved, leaves[1])
    del moved
    assert where() is not None
    y.backward()  # type: ignore[no-untyped-call]
    gc.collect()
    assert where() is None


@pytest.mark.kernels
def test_many_inputs_at_once_are_refused_and_not_wrong() -> None:
    of, x, weight = by_triton()
    with pytest.raises(SpecError, match=f"take {KERNEL}'s plain"):
        vmap(of, in_dims=(0, None))(torch.stack([x, x]), weight)


WITHOUT: dict[str, Callable[[Any, Tensor], object]] = {
    "rademacher: combine": lambda ops, x: ops.combine(x, 1, range(len(x)), 8),
    "rademacher: project": lambda ops, x: ops.project(x, 1, [0, 1]),
    "shard_pack: rearrange": lambda ops, x: ops.rearrange(x, 2, 3, torch.float32),
    "sign_ops: add_fedsign_": lambda ops, x: ops.add_fedsign_(
        torch.zeros(6), x, torch.ones(6), gamma=0.1
    ),
}
"""Calls of kernels that have no derivative."""


@pytest.mark.kernels
@pytest.mark.parametrize("name", WITHOUT)
def test_a_kernel_without_a_derivative_drops_none_in_silence(name: str) -> None:
    kernel, call = name.partition(":")[0], WITHOUT[name]
    ops, x = implementation(kernel, "triton"), drawn(6, seed=4)
    with forward_ad.dual_level(), pytest.raises(SpecError, match="drops tangents"):
        call(ops, forward_ad.make_dual(x, torch.ones(6)))
    x.requires_grad_()
    with torch.no_grad():
        call(ops, x)
    if kernel != "sign_ops":  # nor has its plain torch
        with pytest.raises(SpecError, match=r"call it under torch\.no_grad"):
            call(ops, x)
