"""What trials need and cost: operations against torch's own count, memory and device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.declare.experiment import Experiment
from harness.errors import SpecError
from reproductions.supar.models.costs import (
    estimate_of,
    memory_bytes,
    needs_of,
    num_matrix_params,
    train_flops,
)
from reproductions.supar.models.gpt_trial import dry_run
from reproductions.supar.models.points import RatePoint
from reproductions.supar.sweeps.experiment import lr_sweep
from reproductions.supar.transfer.experiment import fixed_hyperparameters, transfer
from tests.reproductions.supar import small

POINT: RatePoint = replace(small.points(lr_sweep, "cpu")[0], density=1.0)


@pytest.mark.parametrize("experiment", [lr_sweep, fixed_hyperparameters], ids=lambda e: e.id)
def test_dense_training_costs_what_torch_counts(experiment: Experiment) -> None:
    dense = next(p for p in small.points(experiment, "cpu") if p.density == 1.0)
    counted = dry_run(dense)
    tokens = dense.batch_size * dense.context * dense.steps
    # Torch has no formula for the fused attention of a CPU: two products forward, four back.
    attention = 6 * 2 * dense.num_layers * dense.width * dense.context * tokens
    assert train_flops(dense) == counted.step_flops * counted.num_steps + attention


def test_operations_worked_out_by_hand() -> None:
    tiny = replace(
        POINT, width=2, num_layers=3, context=4, density=0.25, tokenizer="bytes", steps=5,
        batch_size=6,
    )  # fmt: skip
    # A token: hidden 12 * 3 * 2^2 / 4, attention 2 * 3 * 2 * 4, unembedding 256 * 2.
    assert train_flops(tiny) == 6 * (36 + 48 + 512) * 5 * 6 * 4
    assert num_matrix_params(tiny) == 12 * 3 * 4 + 512


def test_density_takes_from_hidden_weights_alone() -> None:
    dense, half, none = (train_flops(replace(POINT, density=d)) for d in (1.0, 0.5, 1e-9))
    assert half == pytest.approx((dense + none) / 2)
    assert none > 0.0


def test_gpu_trials_need_memory_and_a_gpu_and_byte_pairs_their_package() -> None:
    cpu, gpu, paper = (small.points(transfer, profile)[0] for profile in
                       ("cpu", "gpu", "paper"))  # fmt: skip
    assert (needs_of(cpu).device, needs_of(cpu).gpu_bytes, needs_of(cpu).packages) == ("cpu", 0, ())
    assert needs_of(gpu).device == "cuda"
    assert needs_of(gpu).gpu_bytes == memory_bytes(gpu) > 0
    assert needs_of(paper).packages == ("transformers",)
    assert needs_of(paper).data == ("slimpajama",)


def test_parts_of_a_batch_bound_memory() -> None:
    whole, parts = memory_bytes(POINT), memory_bytes(replace(POINT, micro_batches=4))
    weights = 4 * 4 * num_matrix_params(POINT)
    assert parts - weights == pytest.approx((whole - weights) / 4)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_estimates_grow_with_steps_and_passes(device: Any) -> None:
    point = replace(POINT, device=device)
    once = estimate_of(point, num_passes=3.0).seconds
    assert estimate_of(replace(point, steps=400), num_passes=3.0).seconds > once
    assert estimate_of(point, num_passes=4.0).seconds > once


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(SpecError, match="tokenizer='words'"):
        replace(POINT, tokenizer="words")  # type: ignore[arg-type]
