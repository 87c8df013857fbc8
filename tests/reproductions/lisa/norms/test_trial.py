"""Trials on norms: what is adapted, what is reported, and that measuring changes no training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from peft.tuners.lora import LoraLayer
from torch import nn

from harness.declare.experiment import Experiment, Outcome, Status
from harness.declare.params import Params
from harness.run.executors.context import TrialContext
from harness.store.store import RecordStore
from harness.store.trial import Trial
from harness.store.workspace import Workspace
from reproductions.lisa.finetuning import experiment as finetune
from reproductions.lisa.finetuning.trial import rows_of
from reproductions.lisa.method.methods import Lora
from reproductions.lisa.models.fine_tuning import records_of, setting_of
from reproductions.lisa.norms import experiment as norms
from reproductions.lisa.norms.trial import measured_rows, with_adapters
from tests.reproductions.lisa.models.test_training import fresh
from tests.reproductions.lisa.small import gpt2, llama


def context(experiment: Experiment, point: Params, folder: Path) -> TrialContext:
    trial = Trial(experiment, point.to_json(), "smoke")
    return TrialContext(trial, RecordStore(Workspace(folder)), "smoke")


def trained(folder: Path, method: str, **changed: Any) -> Outcome:
    point = next(p for p in norms.training_grid("smoke") if p.method == method)
    params = replace(point, **changed)
    ctx = context(norms.trained, params, folder)
    return measured_rows(params, ctx, setting_of(params, fresh(), records_of(params.model, ctx)))


def adapted_names(model: nn.Module) -> set[str]:
    return {
        name.removeprefix("base_model.model.")
        for name, module in model.named_modules()
        if isinstance(module, LoraLayer)
    }


def test_adapters_are_on_all_linears_embeddings_and_an_untied_head() -> None:
    prepared = Lora(rank=2, alpha=2.0, dropout=0.0, embeddings=True).prepare(
        llama(), torch.optim.AdamW
    )
    names = adapted_names(with_adapters(llama(), rank=2, seed=0))
    assert names == adapted_names(prepared.model)
    assert {"model.embed_tokens", "lm_head"} <= names
    blocks = [f"transformer.h.{i}.{n}" for i in range(3)
              for n in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")]  # fmt: skip
    expected = {"transformer.wte", "transformer.wpe", *blocks}
    assert adapted_names(with_adapters(gpt2(), rank=2, seed=0)) == expected


def test_measuring_changes_no_training(tmp_path: Path) -> None:
    """In full the run is the fine-tuning experiment's, to the last bit of its validation loss."""
    outcome = trained(tmp_path, "full")
    params = replace(
        finetune.tuned(
            "full", lr=norms.training("tiny-path", "full").lr, seed=0, model="tiny-path"
        ),
        num_steps=3,
    )
    ctx = context(finetune.runs, params, tmp_path)
    rows = rows_of(params, ctx, setting_of(params, fresh(), records_of("tiny-path", ctx))).rows
    (loss,) = [row["loss"] for row in rows if row["split"] == "validation"]
    assert {row["validation_loss"] for row in outcome.rows} == {loss}


def test_a_run_that_diverges_keeps_what_was_before(tmp_path: Path) -> None:
    outcome = trained(tmp_path, "full", lr=1e30)
    assert outcome.status is Status.DIVERGED
    assert [row["when"] for row in outcome.rows] == ["start"] * 6
    assert {row["validation_loss"] for row in outcome.rows} == {None}
