"""Trials on norms: what is adapted, what is reported, and that measuring changes no training."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from peft.tuners.lora import LoraLayer
from torch import nn

from harness.data.load import load
from harness.declare.experiment import Experiment, Outcome, Status
from harness.declare.params import Params
from harness.errors import SpecError
from harness.run.executors.context import TrialContext
from harness.store.store import RecordStore
from harness.store.trial import Trial
from harness.store.workspace import Workspace
from reproductions.lisa.finetuning import experiment as finetune
from reproductions.lisa.finetuning.trial import rows_of
from reproductions.lisa.method.methods import Lora
from reproductions.lisa.models.fine_tuning import records_of, setting_of
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.names import GRAMMAR
from reproductions.lisa.models.pretraining import new_model
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.norms import experiment as norms
from reproductions.lisa.norms.trial import initial_rows, measured_rows, with_adapters
from tests.reproductions.lisa.small import gpt2, llama

LAYERS = ["embedding", "block 0", "block 1", "block 2", "block 3", "head"]


def context(experiment: Experiment, point: Params, folder: Path) -> TrialContext:
    trial = Trial(experiment, point.to_json(), "smoke")
    return TrialContext(trial, RecordStore(Workspace(folder)), "smoke")


def untrained() -> LanguageModel:
    texts = [load(GRAMMAR).text[:4000]]
    return new_model(shape_of("tiny-path"), texts, vocab_chars=4000, seed=0)


def trained(folder: Path, method: str, **changed: Any) -> Outcome:
    point = next(p for p in norms.training_grid("smoke") if p.method == method)
    params = replace(point, **changed)
    ctx = context(norms.trained, params, folder)
    return measured_rows(
        params, ctx, setting_of(params, untrained(), records_of(params.model, ctx))
    )


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


@pytest.mark.parametrize("name", ["gpt2-small", "llama-2-7b"])
def test_an_initial_trial_reports_the_closed_form_at_the_true_rank(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A narrow model of the family stands in: blocks and head do not depend on the width."""
    real = shape_of(name)
    hidden, ffn = 64, 256 if real.tied else 96
    shape = replace(real, hidden=hidden, ffn=ffn, heads=4, kv_heads=4, vocab=128, positions=16)
    monkeypatch.setattr("reproductions.lisa.norms.trial.shape_of", lambda _: shape)
    params = norms.Draw(model=name, num_blocks=1, rank=128)
    ctx = context(norms.drawn, params, tmp_path)
    rows: dict[Any, Any] = {row["layer"]: row for row in initial_rows(params, ctx)}
    linears = len(shape.linears)
    closed = {"embedding": math.sqrt(hidden * 128), "block 0": math.sqrt(linears * 128 / 3)}
    closed |= {"positions": closed["embedding"]} if shape.tied else {"head": math.sqrt(128 / 3)}
    assert list(rows) == [n for n in ("embedding", "positions", "block 0", "head") if n in closed]
    for layer, norm in closed.items():
        assert rows[layer]["drawn_norm"] == pytest.approx(norm, rel=1e-12)
        assert rows[layer]["adapter_norm"] == pytest.approx(norm, rel=0.03)
        assert rows[layer]["change_norm"] == 0.0
        assert rows[layer]["weight_norm"] == pytest.approx(rows[layer]["base_norm"], rel=1e-14)
    assert rows["block 0"]["place"] == (2 if shape.tied else 1)
    assert shape.tied or rows["head"]["place"] == 33


def test_a_trial_has_every_layer_before_and_over_training(tmp_path: Path) -> None:
    lora, full = trained(tmp_path, "lora"), trained(tmp_path, "full")
    for outcome in (lora, full):
        assert [r["layer"] for r in outcome.rows] == 2 * LAYERS
        assert [r["when"] for r in outcome.rows] == ["start"] * 6 + ["mean"] * 6
        for start, mean in zip(outcome.rows[:6], outcome.rows[6:], strict=True):
            assert start["change_norm"] == 0.0
            assert start["weight_norm"] == pytest.approx(start["base_norm"], rel=1e-14)
            assert float(mean["change_norm"] or 0.0) > 0.0
    assert all(row["adapter_norm"] is None for row in full.rows)
    assert all(row["adapter_norm"] is not None for row in lora.rows)
    # Both start from one model.
    assert [r["base_norm"] for r in lora.rows] == [r["base_norm"] for r in full.rows]


def test_a_trial_gives_the_same_rows_again_and_draws_nothing_globally(tmp_path: Path) -> None:
    before = torch.random.get_rng_state()
    first = trained(tmp_path, "lora")
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(1)
    assert trained(tmp_path, "lora").rows == first.rows


def test_measuring_changes_no_training(tmp_path: Path) -> None:
    """In full the run is the fine-tuning experiment's, to the last bit of its validation loss."""
    outcome = trained(tmp_path, "full")
    params = replace(finetune.tuned("tiny-path", "full"), num_steps=3)
    ctx = context(finetune.runs, params, tmp_path)
    rows = rows_of(params, ctx, setting_of(params, untrained(), records_of("tiny-path", ctx))).rows
    (loss,) = [row["loss"] for row in rows if row["split"] == "validation"]
    assert {row["validation_loss"] for row in outcome.rows} == {loss}


def test_a_run_that_diverges_keeps_what_was_before(tmp_path: Path) -> None:
    outcome = trained(tmp_path, "full", lr=1e30)
    assert outcome.status is Status.DIVERGED
    assert [row["when"] for row in outcome.rows] == ["start"] * 6
    assert {row["validation_loss"] for row in outcome.rows} == {None}


def test_other_methods_are_refused() -> None:
    with pytest.raises(SpecError, match="method='lisa' is none of lora, full"):
        norms.training("tiny-path", "lisa")  # type: ignore[arg-type]
