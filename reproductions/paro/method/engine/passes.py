"""When units are gathered, reduced and let go: hooks on the modules of a model.

In the manner of PyTorch's fully_shard: a unit's backward pass begins with the first gradient of
what it returned, and ends with the gradients of what it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Variable
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

from harness.errors import SpecError
from reproductions.paro.method.engine.state import FlatState
from reproductions.paro.method.engine.trace import Trace
from reproductions.paro.method.engine.transitions import gather, reduce


class Lane:
    """Runs collectives one after another, in the order in which they are asked for.

    Ranks that ask alike have the same collectives in the same order.

    is_beside: in a thread of its own, which waits for messages while the passes compute, so that
    what starts a job early gains by it; else before anything else goes on.
    """

    def __init__(self, *, is_beside: bool) -> None:
        self.is_beside = is_beside
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="paro")

    def start(self, job: Callable[[], None]) -> Future[None]:
        """Queue a job; what it raises is raised here, or by the result."""
        done = self._thread.submit(job) if self.is_beside else Future[None]()
        if not self.is_beside:
            job()
            done.set_result(None)
        return done


class Unit:
    """A module and the states that are gathered for its passes."""

    def __init__(self, name: str, module: nn.Module, flats: list[FlatState]) -> None:
        self.name, self.module, self.flats = name, module, flats
        self.gathering: Future[None] | None = None
        """Under way or done; None where parts are all there is."""
        self.in_backward = False
        """From the first gradient of what it returned until its own gradients are taken."""
        self.backward_start_s = 0.0
        self.num_open = 0
        """Calls of the module whose backward pass is not over."""

    @property
    def trained(self) -> list[FlatState]:
        """Those with gradients."""
        return [flat for flat in self.flats if flat.is_trained]

    def prefetch(self, lane: Lane) -> None:
        """Start to make parameters whole, where that goes on beside the passes."""
        if lane.is_beside:
            self._start(lane)

    def _start(self, lane: Lane) -> None:
        if self.gathering is None:
            self.gathering = lane.start(lambda: gather(self.flats))

    def gather(self, lane: Lane) -> None:
        """Have parameters whole."""
        self._start(lane)
        assert self.gathering is not None
        self.gathering.result()
        for flat in self.flats:
            flat.show()

    def free(self) -> None:
        """Let them go."""
        if self.gathering is not None:
            self.gathering.result()
            self.gathering = None
            for flat in self.flats:
                flat.free()

    def take_grads(self) -> Callable[[], None]:
        """Take the gradients of a pass; return what reduces them."""
        flats = self.trained
        grads = [flat.take_grads() for flat in flats]
        return lambda: reduce(flats, grads)


class Passes:
    """Runs units' gathers and reductions in forward and backward passes.

    Every rank must run the same units in the same order; parameters within a unit may be left out.
    While a unit computes, the next one is gathered, as far as the pass before tells which it is,
    and gradients of the one before are reduced.
    """

    def __init__(
        self, model: nn.Module, units: Sequence[Unit], lane: Lane, input_dtype: torch.dtype | None,
        trace: Trace,
    ) -> None:  # fmt: skip
        """input_dtype: to which a unit's floating inputs are cast; None: left as they are."""
        self.units, self.lane, self.input_dtype = units, lane, input_dtype
        self.trace = trace
        self._forward_starts: list[float] = []
        """Of calls that have not returned: units may lie in one another."""
        self.num_backward = 0
        """Backward passes that reached any unit since the last optimizer step."""
        self._last_order: list[Unit] = []
        self._order: list[Unit] = []
        """Of calls in this forward pass."""
        self._reducing: Future[None] | None = None
        self._ends_with = NO_BACKWARD
        model.register_forward_pre_hook(self._begin_forward)
        for unit in units:
            unit.module.register_forward_pre_hook(self._before(unit), with_kwargs=True)
            unit.module.register_forward_hook(self._after(unit), always_call=True)

    def _begin_forward(self, *_: Any) -> None:
        if not in_backward():
            self.settle()
            self._last_order, self._order = self._order, []
            self._forward_starts.clear()

    def settle(self) -> None:
        """Wait for what is under way and let go what was gathered in vain.

        Between passes: also what a backward pass that failed has left.
        """
        self._wait_for_reduction()
        for unit in self.units:
            unit.free()
            unit.in_backward = False
            unit.num_open = 0

    def _before(self, unit: Unit) -> Callable[..., Any]:
        def before_forward(_: nn.Module, args: Any, kwargs: Any) -> Any:
            unit.gather(self.lane)
            if self.input_dtype is not None:
                args, kwargs = tree_map_only(Tensor, self._cast, (args, kwargs))
            if not in_backward():
                self._order.append(unit)
                following = self._last_order[len(self._order) - 1 : len(self._order) + 1]
                if len(following) == 2 and following[0] is unit:
                    following[1].prefetch(self.lane)
                if torch.is_grad_enabled():
                    unit.num_open += 1
                    args, kwargs = watch_inputs((args, kwargs), lambda: self._end_call(unit))
            self._forward_starts.append(self.trace.now())
            return args, kwargs

        return before_forward

    def _cast(self, tensor: Tensor) -> Tensor:
        return tensor.to(self.input_dtype) if tensor.is_floating_point() else tensor

    def _after(self, unit: Unit) -> Callable[..., None]:
        def after_forward(_: nn.Module, args: Any, output: Any) -> None:
            self._computed_forward(unit)
            if in_backward():
                # What a checkpoint runs again has its hooks from the first time.
                watch_outputs(output, refuse_reentrant)
            else:
                # Of a unit around others the last of them, which comes first on the way back.
                earlier = [each for each in self._order[-2:] if each is not unit][-1:]
                refuse_hidden(unit, output)
                watch_outputs(output, lambda: self._begin(unit, earlier))
            if not unit.in_backward:
                unit.free()

        return after_forward

    def _computed_forward(self, unit: Unit) -> None:
        # A call that failed before it began has left no start.
        if self._forward_starts:
            self.trace.did("forward", self._forward_starts.pop(), unit.name)

    def _begin(self, unit: Unit, earlier: list[Unit]) -> None:
        """Prepare a unit's backward pass. earlier: what was called before it, if anything."""
        if self._ends_with != current_backward():
            self._ends_with = current_backward()
            Variable._execution_engine.queue_callback(self._end)
        unit.gather(self.lane)
        if not unit.in_backward:
            unit.backward_start_s = self.trace.now()
        unit.in_backward = True
        for each in earlier:
            each.prefetch(self.lane)

    def _end_call(self, unit: Unit) -> None:
        """Reduce a unit's gradients, unless the module was called more often than that."""
        unit.num_open -= 1
        if unit.num_open <= 0:
            self._finish(unit)

    def _finish(self, unit: Unit) -> None:
        # One at a time: gradients that wait are whole ones.
        self.trace.did("backward", unit.backward_start_s, unit.name)
        self._wait_for_reduction()
        self._reducing = self.lane.start(unit.take_grads())
        unit.free()
        unit.in_backward = False

    def _wait_for_reduction(self) -> None:
        if self._reducing is not None:
            self._reducing.result()
            self._reducing = None

    def _end(self) -> None:
        """End a backward pass: finish units whose inputs have no gradients, first units last."""
        self.num_backward += 1
        for unit in reversed(self.units):
            if unit.in_backward:
                self._finish(unit)
        self.settle()


NO_BACKWARD = -1


def current_backward() -> int:
    """Return the number of the backward pass that runs on this thread; NO_BACKWARD if none does."""
    return int(torch._C._current_graph_task_id())


def in_backward() -> bool:
    """Say whether a backward pass runs: a module that is called then is called by a checkpoint."""
    return current_backward() != NO_BACKWARD


def refuse_reentrant() -> None:
    """Raise SpecError: the graph of a second run has a backward pass of its own."""
    raise SpecError(
        "a re-entrant checkpoint around a unit, whose parameters are gone when its backward pass"
        " comes: pass use_reentrant=False"
    )


def refuse_hidden(unit: Unit, outputs: Any) -> None:
    """Raise SpecError for outputs whose tensors cannot be found, and so neither their gradients."""
    leaves = tree_flatten(outputs)[0]
    if not torch.is_grad_enabled() or any(isinstance(leaf, Tensor) for leaf in leaves):
        return
    for leaf in leaves:
        if hasattr(leaf, "__dict__") or hasattr(leaf, "__slots__"):
            raise SpecError(
                f"unit {unit.name} returned a {type(leaf).__name__}, in which no tensor is found:"
                " return tensors, tuples, lists or dictionaries of them, or a ModelOutput"
            )


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
