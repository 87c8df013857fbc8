"""Trees of tensors: tuples, lists and dictionaries of them, at any depth, as torch.func takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.func import jvp
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

Tree = Any
"""A tensor, or a nest of tuples, lists and dictionaries of tensors."""
ONCE: Any = None
"""Of `out_dims`: what is the same for all rows, which torch's own types leave out."""

__all__ = [
    "Tree", "tree_leaves", "tree_map", "like", "detached", "attached", "has_gradient", "floating",
    "norm", "is_finite", "is_zero", "num_entries", "num_bytes", "split", "zeros_for_none", "added",
    "scaled", "inner", "pushed", "ONCE",
]  # fmt: skip


def like(tree: Tree, leaves: Sequence[Any]) -> Tree:
    """Return these leaves in the shape of a tree."""
    return tree_unflatten(list(leaves), tree_flatten(tree)[1])


def detached(tree: Tree) -> Tree:
    """Return the tree without history; tensors share their storage."""
    return tree_map(lambda leaf: leaf.detach(), tree)


def attached(tree: Tree) -> Tree:
    """Return the tree as leaves of a new graph; tensors that cannot have a gradient stay plain."""
    return tree_map(
        lambda leaf: leaf.detach().requires_grad_() if has_gradient(leaf) else leaf, tree
    )


def norm(tree: Tree) -> Tensor:
    """Return the Euclidean norm over all entries that can have a gradient."""
    real = [leaf.abs() if leaf.is_complex() else leaf for leaf in floating(tree)]
    return torch.stack([leaf.square().sum() for leaf in real]).sum().sqrt()


def has_gradient(leaf: Tensor) -> bool:
    """Return whether it is of real or complex numbers."""
    return leaf.is_floating_point() or leaf.is_complex()


def floating(tree: Tree) -> list[Tensor]:
    """Return the leaves that can have a gradient."""
    return [leaf for leaf in tree_leaves(tree) if has_gradient(leaf)]


def is_finite(tree: Tree) -> bool:
    """Return whether every entry is finite."""
    return all(bool(torch.isfinite(leaf).all()) for leaf in tree_leaves(tree))


def is_zero(tree: Tree) -> bool:
    """Return whether every entry is exactly 0."""
    return not any(bool(leaf.any()) for leaf in tree_leaves(tree))


def num_entries(tree: Tree) -> int:
    """Return the number of entries of all leaves."""
    return sum(leaf.numel() for leaf in tree_leaves(tree))


def num_bytes(tree: Tree) -> int:
    """Return the bytes of all entries."""
    return sum(leaf.numel() * leaf.element_size() for leaf in tree_leaves(tree))


def split(flat_CN: Tensor, tree: Tree) -> Tree:
    """Cut rows of N entries into the leaves of a tree, each with a first axis of C.

    They take the dtype and the device of those leaves.
    """
    leaves = tree_leaves(tree)
    parts = torch.split(flat_CN, [leaf.numel() for leaf in leaves], dim=1)
    return like(
        tree,
        [
            part.reshape(-1, *leaf.shape).to(leaf.device, leaf.dtype)
            for part, leaf in zip(parts, leaves, strict=True)
        ],
    )


def zeros_for_none(tree: Tree, leaves: Sequence[Tensor | None]) -> Tree:
    """Return gradients in the shape of a tree, zeros where there is none."""
    pairs = zip(leaves, tree_leaves(tree), strict=True)
    return like(tree, [torch.zeros_like(b) if a is None else a for a, b in pairs])


def added(left: Tree, right: Tree) -> Tree:
    """Return the sum of two trees of one shape."""
    return tree_map(torch.add, left, right)


def scaled(factor: float | Tensor, tree: Tree) -> Tree:
    """Return a multiple of a tree."""
    return tree_map(lambda leaf: factor * leaf, tree)


def inner(left: Tree, right: Tree) -> Tensor:
    """Return the real inner product of two trees of one shape, over what can have a gradient."""
    pairs = zip(floating(left), floating(right), strict=True)
    return torch.stack([(a.conj() * b).sum().real for a, b in pairs]).sum()


_ARITHMETIC = {
    "add", "radd", "sub", "rsub", "subtract", "mul", "rmul", "multiply",
    "div", "divide", "truediv", "true_divide", "rdiv", "rtruediv",
}  # fmt: skip


class _NumbersAsTensors(TorchFunctionMode):
    """Hands numbers that meet a float32 tensor of no dimension over as float32 tensors.

    Values are the same to the bit, and tangents stay in float32: under jvp torch makes float64 of
    the tangent of such a sum, product or quotient.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if getattr(func, "__name__", "").strip("_") in _ARITHMETIC:
            for one in args:
                if isinstance(one, Tensor) and one.dim() == 0 and one.dtype == torch.float32:
                    args = tuple(one.new_tensor(a) if isinstance(a, float) else a for a in args)
                    break
        return func(*args, **(kwargs or {}))


def pushed(
    function: Callable[..., Any], at: tuple[Tree, ...], along: tuple[Tree, ...], **options: bool
) -> Any:
    """Return a function's value and its tangent, as torch's jvp with these options."""
    try:
        return jvp(function, at, along, **options)
    except RuntimeError as error:
        if not re.search("float.*double|double.*float", str(error), re.IGNORECASE):
            raise
    with _NumbersAsTensors():
        return jvp(function, at, along, **options)
