"""When units are gathered, reduced and let go: hooks on the modules of a model.

In the manner of PyTorch's fully_shard: a unit's backward pass begins with the first gradient of
what it returned, and ends with the gradients of what it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Variable
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

from reproductions.paro.method.engine.state import FlatState


class Unit:
    """A module and the states that are gathered for its passes."""

    def __init__(self, name: str, module: nn.Module, flats: list[FlatState]) -> None:
        self.name, self.module, self.flats = name, module, flats
        self.is_whole = False
        self.in_backward = False
        """From the first gradient of what it returned until its own gradients are reduced."""
        self.num_open = 0
        """Calls of the module whose backward pass is not over."""

    @property
    def trained(self) -> list[FlatState]:
        """Those with gradients."""
        return [flat for flat in self.flats if flat.is_trained]

    def gather(self) -> None:
        """Make parameters whole, once."""
        if not self.is_whole:
            for flat in self.flats:
                flat.gather()
            self.is_whole = True

    def free(self) -> None:
        """Let them go."""
        for flat in self.flats:
            flat.free()
        self.is_whole = False


class Passes:
    """Runs units' gathers and reductions in forward and backward passes.

    Every rank must run the same units in the same order; parameters within a unit may be left out.
    """

    def __init__(self, units: Sequence[Unit], input_dtype: torch.dtype | None) -> None:
        """input_dtype: to which a unit's floating inputs are cast; None: left as they are."""
        self.units, self.input_dtype = units, input_dtype
        self.num_backward = 0
        """Backward passes that reached any unit since the last `reset`."""
        self._is_end_queued = False
        for unit in units:
            unit.module.register_forward_pre_hook(self._before(unit), with_kwargs=True)
            unit.module.register_forward_hook(self._after(unit), always_call=True)

    def _before(self, unit: Unit) -> Callable[..., Any]:
        def before_forward(_: nn.Module, args: Any, kwargs: Any) -> Any:
            unit.gather()
            if self.input_dtype is not None:
                cast = lambda each: each.to(self.input_dtype) if each.is_floating_point() else each  # noqa: E731
                args, kwargs = tree_map_only(Tensor, cast, (args, kwargs))
            # A checkpoint that runs it again in its backward pass has its hooks already.
            if torch.is_grad_enabled() and not unit.in_backward:
                unit.num_open += 1
                args, kwargs = watch_inputs((args, kwargs), lambda: self._end_call(unit))
            return args, kwargs

        return before_forward

    def _after(self, unit: Unit) -> Callable[..., None]:
        def after_forward(_: nn.Module, args: Any, output: Any) -> None:
            if not unit.in_backward:
                watch_outputs(output, lambda: self._begin(unit))
                unit.free()

        return after_forward

    def _begin(self, unit: Unit) -> None:
        """Prepare a unit's backward pass."""
        if not self._is_end_queued:
            Variable._execution_engine.queue_callback(self._end)
            self._is_end_queued = True
        unit.gather()
        unit.in_backward = True

    def _end_call(self, unit: Unit) -> None:
        """Reduce a unit's gradients, unless the module was called more often than that."""
        unit.num_open -= 1
        if unit.num_open <= 0:
            self._finish(unit)

    def _finish(self, unit: Unit) -> None:
        for flat in unit.trained:
            flat.reduce()
        unit.free()
        unit.in_backward = False

    def _end(self) -> None:
        """End a backward pass: finish units whose inputs have no gradients, first units last."""
        self._is_end_queued = False
        self.num_backward += 1
        for unit in reversed(self.units):
            if unit.in_backward:
                self._finish(unit)
            unit.num_open = 0

    def reset(self) -> None:
        """Begin another optimizer step."""
        self.num_backward = 0


class _AfterBackward(torch.autograd.Function):
    """Hands tensors on, and says when the gradients of all of them are there."""

    @staticmethod
    def forward(ctx: Any, done: Callable[[], None], *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.done = done
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        # Gradients of parameters come first: autograd runs what accumulates them before all else.
        ctx.done()
        return None, *grads


def watch_inputs(inputs: Any, done: Callable[[], None]) -> Any:
    """Return inputs such that `done` is called once gradients of those that need any are there."""
    leaves, shape = tree_flatten(inputs)
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor) and leaf.requires_grad]
    if places:
        watched = _AfterBackward.apply(done, *(leaves[i] for i in places))  # type: ignore[no-untyped-call]
        for place, tensor in zip(places, watched, strict=True):
            leaves[place] = tensor
    return tree_unflatten(leaves, shape)


def watch_outputs(outputs: Any, begin: Callable[[], None]) -> None:
    """Call `begin` as soon as a gradient of any output is there."""
    for leaf in tree_flatten(outputs)[0]:
        if isinstance(leaf, Tensor) and leaf.requires_grad:
            leaf.register_hook(lambda _: begin())  # type: ignore[no-untyped-call]
