"""The time of one training step, phase by phase: warm, methods in turn, and cold.

Warm is what training takes: after some steps, each phase synchronised (CUDA events on a GPU).
Cold is what the authors' memory script timed, as far as it is known (`examples/detail_memory.py`
of LMFlow, added 2024-03-18): the first iteration of a process by the host's clock, which on a GPU
waits for nothing, with the optimizer's step inside what is called backward.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from harness.declare.experiment import Device
from harness.measure.timing import measure_interleaved
from reproductions.lisa.method.methods import MakeOptimizer, Method
from reproductions.lisa.models.shapes import Shape
from reproductions.lisa.models.steps.memory import Workload, build
from reproductions.lisa.models.training import LossOf, own_loss

PHASES = ("forward", "backward", "optimizer")
NO_SWITCH = 10**9
"""A period that no run reaches: the price of a switch is a benchmark of its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """All samples of one method's step."""

    samples_ms: dict[str, tuple[float, ...]]
    """By phase, and their sum under `total`."""
    flops: dict[str, int]
    """Operations of matrix products, by phase and in total; empty where none were counted."""
    load_average: float | None


def fused(parameters: Any) -> torch.optim.AdamW:
    """Return AdamW in one pass over each tensor: the least time full training can take for it."""
    return torch.optim.AdamW(parameters, lr=1e-5, fused=True)


class Step:
    """A model, its optimizer and one batch, to be stepped phase by phase."""

    def __init__(
        self, method: Method, shape: Shape, workload: Workload, *, device: Device, seed: int,
        make_optimizer: MakeOptimizer = fused, loss_of: LossOf = own_loss,
    ) -> None:  # fmt: skip
        """Build the model on the device with new weights; eager attention, no checkpointing."""
        with torch.device(device):
            model = build(shape.config(), workload.dtype, seed=seed)
            self._prepared = method.prepare(model, make_optimizer)
            generator = torch.Generator(device).manual_seed(seed)
            size = (workload.batch_size, workload.seq_len)
            ids = torch.randint(shape.vocab, size, generator=generator)
        self._inputs = {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}
        self._loss_of = loss_of
        self._loss: torch.Tensor | None = None

    @property
    def phases(self) -> tuple[Callable[[], None], ...]:
        """Functions to be called in this order, over and over."""
        return self.forward, self.backward, self.optimizer

    def forward(self) -> None:
        """Compute the loss, and keep what the backward pass needs."""
        self._loss = self._loss_of(self._prepared.model, **self._inputs)

    def backward(self) -> None:
        """Make the gradients."""
        assert self._loss is not None
        self._loss.backward()
        self._loss = None

    def optimizer(self) -> None:
        """Update the weights and drop the gradients."""
        self._prepared.optimizer.step()
        self._prepared.optimizer.zero_grad(set_to_none=True)

    def whole(self) -> None:
        """Take a step, all phases of it."""
        for phase in self.phases:
            phase()

    def weights(self) -> list[torch.Tensor]:
        """Return copies of all weights."""
        return [weight.detach().clone() for weight in self._prepared.model.parameters()]

    def state_bytes(self) -> int:
        """Return the bytes of what the optimizer keeps between steps, its counts apart."""
        states = self._prepared.optimizer.state.values()
        held = [value for state in states for value in state.values()]
        return sum(tensor.nbytes for tensor in held if tensor.ndim)

    def count_flops(self) -> dict[str, int]:
        """Take a step and return the operations of its matrix products, by phase."""
        with FlopCounterMode(display=False) as counter:
            self.forward()
            forward = counter.get_total_flops()
            self.backward()
        total = counter.get_total_flops()
        self.optimizer()
        return {"forward": forward, "backward": total - forward, "optimizer": 0, "total": total}


@contextmanager
def freed(device: Device) -> Iterator[None]:
    """Give memory back once what is called within has returned: what comes next needs the room."""
    try:
        yield
    finally:
        # LISA and its optimizer point at each other.
        gc.collect()
        if device == "cuda":
            torch.cuda.empty_cache()


def warm_times(
    steps: Sequence[Step], *, device: Device, num_warmup: int, num_timed: int
) -> list[Times]:
    """Time the phases of all steps in turn, so that a drift of the machine meets all alike.

    num_warmup: rounds before, beside one that counts operations. num_timed: rounds that are kept;
    on a GPU they come in tens.
    """
    flops = [step.count_flops() for step in steps]
    work = [phase for step in steps for phase in step.phases]
    for _ in range(num_warmup):
        for phase in work:
            phase()
    timings = measure_interleaved(
        work, device=device, warmup_s=0.0, min_samples=num_timed, budget_s=0.0
    )
    found = []
    for number, counted in enumerate(flops):
        first = number * len(PHASES)
        own = timings[first : first + len(PHASES)]
        samples = {phase: timing.samples_ms for phase, timing in zip(PHASES, own, strict=True)}
        samples["total"] = tuple(map(sum, zip(*samples.values(), strict=True)))
        load = own[0].load_average
        found.append(Times(samples_ms=samples, flops=counted, load_average=load))
    return found


def cold_times(step: Step, *, device: Device) -> dict[str, float]:
    """Time a step that is the first of its process, in ms by the host's clock.

    Nothing is synchronised before the last clock is read; on a GPU the work may go on after it.
    """
    if device == "cuda":
        torch.cuda.synchronize()  # of the weights' making
    start = time.perf_counter_ns()
    step.forward()
    between = time.perf_counter_ns()
    step.backward()
    step.optimizer()
    end = time.perf_counter_ns()
    return {
        "forward": (between - start) / 1e6,
        "backward_and_optimizer": (end - between) / 1e6,
        "total": (end - start) / 1e6,
    }
