"""Norms by layer while the in-house model is fine-tuned, with LoRA and in full."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import (
    Estimate,
    Experiment,
    Needs,
    Outcome,
    RawParams,
    RunContext,
    Use,
)
from reproductions.lisa.base_model import experiment as pretrain
from reproductions.lisa.finetuning import experiment as finetune

METHODS = {"lora": 4, "full": 0}
"""With their ranks: that of the fine-tuning experiment, but adapters of embedding and head too."""


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Fine-tune once; a row a layer before any step, and one of means over the steps."""
    from reproductions.lisa.norms.trial import training_rows

    lm, records = finetune.base_of(params, ctx), finetune.records_of(params, ctx)
    return training_rows(params, ctx, lm=lm, records=records)


def needs(params: RawParams) -> Needs:
    """Return what fine-tuning asks for."""
    return finetune.needs(params)


def estimate(params: RawParams) -> Estimate:
    """Return a start and the steps, each with its norms."""
    return Estimate(seconds=6.0 + 0.25 * int(params["num_steps"]), memory_bytes=2**31)


def smoke_grid() -> Iterator[RawParams]:
    """Yield both methods for three steps of the smallest model."""
    for method in METHODS:
        yield {
            **point("tiny-path", method, lr=finetune.FIXED_LR, seed=0),
            "num_steps": 3, "batch_size": 4,
        }  # fmt: skip


def cpu_grid() -> Iterator[RawParams]:
    """Yield both methods at the rate of the ablations."""
    for method in METHODS:
        for seed in finetune.SEEDS:
            yield point(finetune.OURS, method, lr=finetune.FIXED_LR, seed=seed)


def point(model: str, method: str, *, lr: float, seed: int) -> RawParams:
    """Return one trial's parameters; the steps are those of the fine-tuning experiment."""
    steps = {name: finetune.STEPS[name] for name in ("num_steps", "batch_size", "max_tokens")}
    return {
        "model": model, "method": method, "rank": METHODS[method], "lr": lr, "seed": seed, **steps,
    }  # fmt: skip


experiment = Experiment(
    id="lisa/norms",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    needs=needs,
    uses=(Use(experiment=pretrain.experiment, params=finetune.pretrained),),
    estimate=estimate,
    address=("model", "method", "lr", "seed"),
)
