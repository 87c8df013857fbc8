"""From the parameters of a memory trial to its row, and what optimizer states grow to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from harness.declare import Outcome, Row, RunContext, Status
from harness.errors import RunError
from harness.measure.memory import GpuPeak, gpu_peak, optimizer_tensors, storage_bytes
from reproductions.lisa.memory.experiment import Periods, Step
from reproductions.lisa.method.methods import Galore, LisaMethod, Method, from_params
from reproductions.lisa.models.shapes import Shape, shape_of
from reproductions.lisa.models.steps.memory import FirstBlocks, Workload, adamw, build, count

WARM_STEPS, MEASURED_STEPS = 1, 2


def memory_row(step: Step, ctx: RunContext) -> Outcome:
    """Count one step of a method; under `how` = gpu measure the allocator's peaks beside it.

    count: a real step on this device. arithmetic: the same on the meta device, which allocates
    nothing. A GPU without room for the step is a result, and its row has no peaks.
    """
    shape, workload = shape_of(step.shape), Workload.of(step)
    device = "cpu" if step.how == "count" else "meta"
    found = count(
        shape.config(), method_of(step, shape), workload, device=device, seed=ctx.seed("init")
    )
    told: dict[str, Any] = {"method": step.method, "rank": step.rank, "gamma": step.gamma}
    row: Row = found.row(shape, dtype=step.dtype, **told)
    if step.how != "gpu":
        return Outcome(rows=[row])
    peak = _peak_or_none(step)
    peaks = {
        "peak_allocated_bytes": peak.allocated_bytes if peak else None,
        "peak_reserved_bytes": peak.reserved_bytes if peak else None,
    }
    status = Status.DONE if peak else Status.OOM
    return Outcome(rows=[{**row, **peaks}], status=status)


def method_of(step: Step, shape: Shape) -> Method:
    """Return a trial's method: LISA with its first blocks, GaLore on a GPU undecomposed."""
    if step.method == "galore" and step.how == "gpu":
        return Galore(rank=step.rank, basis_of=first_axes)
    return from_params(
        step.method,
        rank=step.rank,
        # It scales values, which no byte depends on.
        alpha=float(step.rank),
        dropout=step.dropout,
        embeddings=True,
        gamma=step.gamma,
        sampler=FirstBlocks(shape.num_blocks, step.gamma),
    )


def first_axes(gradient: Tensor, rank: int) -> Tensor:
    """Return the first axes as a projector, with the shape and type of GaLore's own.

    The bytes of a step depend on no value. To decompose the 224 matrices of LLaMA-2-7B takes a GPU
    many minutes, once in 200 steps; the room for that is not in the peaks.
    """
    shorter = min(gradient.shape)
    axes = torch.eye(min(rank, shorter), shorter, dtype=gradient.dtype, device=gradient.device)
    return axes if gradient.shape[0] >= gradient.shape[1] else axes.T.contiguous()


def gpu_steps(**params: bool | int | float | str) -> None:
    """Take three steps on the GPU in this process; the peak of the last two is what counts."""
    for number in steps_on("cuda", Step.from_json(params)):
        if number == WARM_STEPS:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()


def steps_on(device: str, step: Step) -> Iterator[int]:
    """Take a trial's warm and measured steps on a device; yield each one's number before it."""
    shape, workload = shape_of(step.shape), Workload.of(step)
    with torch.device(device):
        model = build(shape.config(), workload.dtype, seed=0)
        prepared = method_of(step, shape).prepare(model, adamw)
        ids = torch.randint(shape.vocab, (workload.batch_size, workload.seq_len))
    for number in range(WARM_STEPS + MEASURED_STEPS):
        yield number
        prepared.model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
        prepared.optimizer.step()
        prepared.optimizer.zero_grad(set_to_none=True)


def _peak_or_none(step: Step) -> GpuPeak | None:
    """Return the peaks of a fresh process, or None where the GPU had no room."""
    try:
        return gpu_peak(gpu_steps, step.to_json())
    except RunError as error:
        if "OutOfMemoryError" in str(error):
            return None
        raise


def policy_rows(params: Periods, ctx: RunContext) -> list[Row]:
    """Train for some periods under a policy; one row per period with the bytes of moments.

    They are counted after a period's first step, when all that trains has them and nothing is
    dropped yet; a period needs two steps for that. Step counters count too.
    """
    shape, workload = shape_of(params.shape), Workload.of(params)
    method = LisaMethod(
        gamma=params.gamma,
        period=2,
        seed=ctx.seed("layers"),
        policy=params.policy,
    )
    prepared = method.prepare(build(shape.config(), workload.dtype, seed=ctx.seed("init")), adamw)
    generator = torch.Generator().manual_seed(ctx.seed("tokens"))
    rows: list[Row] = []
    for step in range(2 * params.num_periods):
        size = (workload.batch_size, workload.seq_len)
        ids = torch.randint(shape.vocab, size, generator=generator)
        prepared.model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
        prepared.optimizer.step()
        prepared.optimizer.zero_grad(set_to_none=True)
        if step % 2 == 0:
            moments = storage_bytes(optimizer_tensors(prepared.optimizer))
            rows.append({"period_number": 1 + step // 2, "moments_bytes": moments})
    return rows
