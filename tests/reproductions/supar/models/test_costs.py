"""What trials need and cost: operations against torch's own count, memory and device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.declare.experiment import Experiment
from harness.registry import load_registry
from harness.run.blocks import load_blocks
from reproductions.supar.models.costs import (
    num_matrix_params,
    train_flops,
)
from reproductions.supar.models.gpt_trial import dry_run
from reproductions.supar.models.points import RatePoint
from reproductions.supar.sweeps.experiment import lr_sweep
from reproductions.supar.transfer.experiment import fixed_hyperparameters
from tests.checkout import ROOT
from tests.reproductions.supar import small

POINT: RatePoint = replace(small.points(lr_sweep, "cpu")[0], density=1.0)


@pytest.mark.parametrize("experiment", [lr_sweep, fixed_hyperparameters], ids=lambda e: e.id)
def test_dense_training_costs_what_torch_counts(experiment: Experiment) -> None:
    dense = next(p for p in small.points(experiment, "cpu") if p.density == 1.0)
    # Of SwiGLU the width is rounded, and with ALiBi torch counts attention.
    dense = replace(dense, feed_forward="gelu", positions="learned")
    counted = dry_run(dense)
    tokens = dense.batch_size * dense.context * dense.steps
    # Torch has no formula for the fused attention of a CPU: two products forward, four back.
    attention = 6 * 2 * dense.num_layers * dense.width * dense.context * tokens
    assert train_flops(dense) == counted.step_flops * counted.num_steps + attention


def test_operations_worked_out_by_hand() -> None:
    tiny = replace(
        POINT, width=2, num_layers=3, context=4, density=0.25, tokenizer="bytes", steps=5,
        warmup_steps=0, batch_size=6,
    )  # fmt: skip
    # A token: hidden 12 * 3 * 2^2 / 4, attention 2 * 3 * 2 * 4, unembedding 256 * 2.
    assert train_flops(tiny) == 6 * (36 + 48 + 512) * 5 * 6 * 4
    assert num_matrix_params(tiny) == 12 * 3 * 4 + 512


def test_figure_6_fits_the_seconds_and_the_card_that_its_block_has() -> None:
    blocks = load_blocks(ROOT / "reproductions" / "gpu.toml")
    block = next(each for each in blocks if each.name == "transfer")
    trials = list(block.trials(load_registry(), "gpu"))
    estimates = [trial.experiment.estimate_of(trial.params) for trial in trials]
    assert sum(each.seconds for each in estimates if each) <= block.seconds
    assert sum(trial.needs.gpu_bytes for trial in trials) <= 80e9
    together = lr_sweep.together
    assert together and "gpu" in together.profiles
    assert len({str(together.shared(trial.params)) for trial in trials}) == 45
