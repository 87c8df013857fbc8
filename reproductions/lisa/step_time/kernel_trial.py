"""From the parameters of a trial to a row per way to take LISA's step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from harness.declare import Row, RunContext
from harness.declare.experiment import Device
from harness.measure.in_turn import Way, rows_in_turn
from reproductions.kernels.adamw.optimizer import KernelAdamW, adamw_for
from reproductions.kernels.backend import without_kernels
from reproductions.kernels.precision import apart, tolerance
from reproductions.lisa.method.methods import LisaMethod
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.steps.memory import Workload
from reproductions.lisa.models.training import causal_lm_loss, own_loss
from reproductions.lisa.step_time.experiment import KernelStep
from reproductions.lisa.step_time.timing import NO_SWITCH, Step, freed

SMALL, FEW = "tiny-smoke", Workload(seq_len=16, batch_size=3, dtype="float32")
"""More targets than features, so that its loss is a kernel too where there are kernels."""
NUM_STEPS = 3
"""Of the small model, with a switch of blocks after each."""
SMOOTH: dict[str, Any] = {"lr": 1e-2, "eps": 1e-2}
"""Of its AdamW: with a small eps a step has the gradient's sign, and where that is rounding alone
two right implementations part."""


def step_rows(params: KernelStep, ctx: RunContext) -> list[Row]:
    """Time LISA's step with the kernels that it takes, and with torch's fused AdamW, in turn."""
    device, seed = ctx.device, ctx.seed("init")
    share = parting(device, seed)
    agrees = share <= tolerance(torch.float32, NUM_STEPS * shape_of(SMALL).ffn)["rtol"]
    with freed(device):
        rows = _timed(params, device, seed)
    asked = {"agrees": agrees, "apart": share}
    return [row | (asked if row["kernels"] else dict.fromkeys(asked)) for row in rows]


def parting(device: Device, seed: int) -> float:
    """Return how far a small LISA by kernels ends from one by torch's AdamW and its own loss.

    As a share of how far it moved, in float32, by three steps that a switch follows each.
    """
    lisa = LisaMethod(gamma=2, period=1, seed=seed)
    moves = []
    for make, loss_of in ((KernelAdamW, causal_lm_loss), (torch.optim.AdamW, own_loss)):
        step = Step(
            lisa, shape_of(SMALL), FEW, device=device, seed=seed,
            make_optimizer=partial(make, **SMOOTH), loss_of=loss_of,
        )  # fmt: skip
        before = step.weights()
        for _ in range(NUM_STEPS):
            step.whole()
        moves.append([now - then for now, then in zip(step.weights(), before, strict=True)])
    return apart(*moves)


def _timed(params: KernelStep, device: Device, seed: int) -> list[dict[str, Any]]:
    """Return the rows of both ways, whose models are gone afterwards."""
    lisa = LisaMethod(gamma=params.gamma, period=NO_SWITCH, seed=seed)
    work = Workload.of(params)
    built: list[Step] = []

    def make() -> Callable[[], None]:
        step = Step(
            lisa, shape_of(params.shape), work, device=device, seed=seed,
            make_optimizer=partial(adamw_for, lr=1e-5, fused=True), loss_of=causal_lm_loss,
        )  # fmt: skip
        built.append(step)
        return step.whole

    ways = [
        Way(told={"kernels": True}, make=make),
        Way(told={"kernels": False}, make=make, within=without_kernels),
    ]
    rows = rows_in_turn(
        ways, device=device, num_warmup=params.num_warmup, num_timed=params.num_timed
    )
    return [row | {"state_bytes": s.state_bytes()} for row, s in zip(rows, built, strict=True)]
