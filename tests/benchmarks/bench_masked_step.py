"""A masked training step must cost at most 1.1 times the dense step of the same shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.benchmarks.conftest import GoalFixture

WIDTH, CONTEXT, BATCH_SIZE, DENSITY = 256, 64, 8, 1 / 8


def _step(density: float) -> Callable[[], None]:
    """Return one training step of the sweep's cpu net, clipping and update included."""
    import torch

    from reproductions.nets.gpt import next_token_loss
    from reproductions.supar.models.gpt_trial import gpt_config, parameterization_of
    from reproductions.supar.models.training import Seeds, build_adamw, build_gpt
    from reproductions.supar.sweeps.experiment import lr_grid

    params = replace(
        next(lr_grid("cpu")), density=density, scheme="supar", width=WIDTH, context=CONTEXT,
        log2_lr=-10.0,
    )  # fmt: skip
    table = parameterization_of(params)
    config = gpt_config(params, table, 65)
    model = build_gpt(config, table, Seeds(init=0, masks=1), mask_density=density)
    optimizer = build_adamw(model, table)
    tokens_BT = torch.randint(65, (BATCH_SIZE, CONTEXT), generator=torch.Generator())

    def step() -> None:
        next_token_loss(model(tokens_BT), tokens_BT).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def test_masked_step_costs_little_more_than_dense(goal: GoalFixture) -> None:
    """Interleave masked and dense steps; the ratio is that of their medians."""
    from harness.measure.timing import measure_interleaved

    record = goal("masked_step", limit=1.1, unit="ratio", direction="at_most")
    masked_step, dense_step = _step(DENSITY), _step(1.0)
    masked, dense = measure_interleaved(
        [masked_step, dense_step], device="cpu",
        **goal.sampling(warmup_s=0.5, min_samples=60, budget_s=10.0),
    )  # fmt: skip
    record(
        masked.median_ms / dense.median_ms,
        samples=[a / b for a, b in zip(masked.samples_ms, dense.samples_ms, strict=True)],
        seconds=[ms / 1e3 for ms in masked.samples_ms],
        note=f"width {WIDTH}, 2 layers, context {CONTEXT}, batch {BATCH_SIZE}, density 1/8, "
        "one CPU thread",
    )
