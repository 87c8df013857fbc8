"""A stacked sweep must train at least 8 times as many nets a second as one by one, on a GPU.

On a CPU it need only be no slower where the net is very small, and that is where it is used.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.benchmarks.goals import GoalFixture

if TYPE_CHECKING:
    from reproductions.supar.text import Batch

NUM_REPEATS = 3
CPU_MEMBERS, GPU_MEMBERS = 8, 64


def test_stack_on_a_gpu(goal: GoalFixture) -> None:
    """Train the cpu sweep's net of width 256, alone and in a stack, on the same card."""
    import torch

    if not torch.cuda.is_available():
        pytest.skip("needs a GPU: torch sees none")
    shape = {"width": 256, "context": 64, "steps": 100}
    gains = [_gain(shape, GPU_MEMBERS, "cuda") for _ in range(NUM_REPEATS + 1)][1:]
    goal("stacked_sweep", limit=8.0, unit="ratio", direction="at_least")(
        statistics.median(gains),
        samples=gains,
        note=f"nets a second, a stack of {GPU_MEMBERS} over one by one; width 256, 2 layers, "
        f"context 64, batch 8, 100 steps, float32, {torch.cuda.get_device_name()}",
    )


def test_stack_of_very_small_nets_on_a_cpu(goal: GoalFixture) -> None:
    """Train nets of width 32, alone and in a stack; wider ones are told in the note."""
    import torch

    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        gains = {
            width: [
                _gain({"width": width, "context": 32, "steps": 30}, CPU_MEMBERS, "cpu")
                for _ in range(NUM_REPEATS)
            ]
            for width in (32, 64, 128)
        }
    finally:
        torch.set_num_threads(num_threads)
    wider = ", ".join(f"{statistics.median(gains[w]):.2f} at width {w}" for w in (64, 128))
    goal("stacked_sweep_cpu", limit=1.0, unit="ratio", direction="at_least")(
        statistics.median(gains[32]),
        samples=gains[32],
        note=f"nets a second, a stack of {CPU_MEMBERS} over one by one; width 32, 2 layers, "
        f"context 32, batch 8, 30 steps, one thread; {wider}",
    )


def _gain(shape: dict[str, Any], num_members: int, device: str) -> float:
    """Return the time of a net trained alone, before and after the stack, over its share there."""
    before_s = _seconds(shape, 1, device)
    stack_s = _seconds(shape, num_members, device)
    after_s = _seconds(shape, 1, device)
    return num_members * (before_s + after_s) / 2 / stack_s


def _seconds(shape: dict[str, Any], num_members: int, device: str) -> float:
    """Return the wall time of training alone, or as a stack; building the nets is not in it."""
    from reproductions.supar.gpt_trial import gpt_config, parameterization_of, settings_of
    from reproductions.supar.stacked import train_stack
    from reproductions.supar.training import Seeds, build_adamw, build_gpt, train

    params = _params(shape)
    table, settings = parameterization_of(params), settings_of(params)
    config = gpt_config(params, table, 65)
    models = [
        build_gpt(
            config, table, Seeds(init=member, masks=member), mask_density=1 / 8, device=device
        )
        for member in range(num_members)
    ]
    batches = [_batches(member, shape) for member in range(num_members)]
    # Both ways end with the logs on the CPU, so the device is done when they return.
    start_s = time.perf_counter()
    if num_members == 1:
        train(models[0], build_adamw(models[0], table, settings), batches[0], settings)
    else:
        train_stack(models, [table] * num_members, batches, settings)
    return time.perf_counter() - start_s


def _params(shape: dict[str, Any]) -> dict[str, Any]:
    """Return the cpu sweep's parameters at another size."""
    from reproductions.supar.experiments import lr_sweep

    first = dict(next(iter(lr_sweep.cpu_grid())))
    changed = {"scheme": "supar", "density": 1 / 8, "log2_lr": -10.0}
    return {**first, **changed, **shape, "warmup_steps": shape["steps"] // 10}


def _batches(member: int, shape: dict[str, Any]) -> list[Batch]:
    """Return batches of random tokens, 8 windows each."""
    import torch

    from reproductions.supar.text import training_batches

    generator = torch.Generator().manual_seed(member)
    num_tokens = 8 * shape["steps"] * shape["context"] + 1
    text_N = torch.randint(65, (num_tokens,), generator=generator)
    return list(
        training_batches(
            text_N,
            context=shape["context"],
            batch_size=8,
            num_batches=shape["steps"],
            generator=generator,
        )
    )
