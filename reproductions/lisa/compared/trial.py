"""From the parameters of a trial on SmolLM2 to its rows: losses and accuracies, or bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.data.load import path_of
from harness.declare import Outcome, Row, RunContext
from harness.lm_eval import stay_offline
from reproductions.lisa.compared.experiment import (
    MAX_DOCUMENTS,
    SMOLLM,
    Compared,
    Held,
    Way,
    datasets_of,
)
from reproductions.lisa.compared.smollm import load_smollm
from reproductions.lisa.method.methods import from_params
from reproductions.lisa.models.benchmarks.lm_tasks import documents_for
from reproductions.lisa.models.fine_tuning import (
    diverged,
    merged,
    prepare,
    records_of,
    run_steps,
    setting_of,
)
from reproductions.lisa.models.instructions import Setting
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.names import GRAMMAR, SMALLEST
from reproductions.lisa.models.pretraining import new_model
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.steps.memory import FirstBlocks, Workload, count

NAMES: Mapping[Way, str] = {
    "lora_equal": "lora", "lora_ends": "lora", "lisa_8": "lisa", "no_blocks": "lisa",
}  # fmt: skip
"""What a way is called as a method, where that is not its own name."""
TINY_CHARS, TINY_DOCUMENTS = 20_000, 2


def compared_rows(params: Compared, ctx: RunContext) -> Outcome:
    """Fine-tune the model by a method, unless it is asked as it came; then score it.

    Rows by `split`: `train` at each step, before it; the held-out split at the end; a benchmark by
    its name. Where the loss is not finite the run ends there, as diverged.
    """
    setting = setting_of(params, model_of(params, ctx), records_of(params.model, ctx))
    if params.method == "untuned":
        return Outcome(rows=scored_rows(params, ctx, setting))
    method = from_params(
        **told_of(params), alpha=2.0 * params.rank, period=params.period, seed=ctx.seed("layers")
    )
    prepared = prepare(params, ctx, setting.lm.model, method)
    losses = run_steps(params, ctx, setting, prepared, after_step=lambda step, loss: None)
    rows: list[Row] = [_row("train", step, loss=loss) for step, loss in enumerate(losses, start=1)]
    if not math.isfinite(losses[-1]):
        rows[-1] = _row("train", len(losses), loss=None)
        return diverged(rows, losses)
    tuned: Any = merged(prepared)
    done = replace(setting, lm=replace(setting.lm, model=tuned))
    return Outcome(rows=[*rows, *scored_rows(params, ctx, done)])


def model_of(params: Compared, ctx: RunContext) -> LanguageModel:
    """Return SmolLM2 as its package has it, or a tiny model with new weights."""
    if params.model == SMOLLM:
        # A record names what was read by its hash.
        ctx.dataset(SMOLLM)
        return load_smollm(path_of(SMOLLM))
    text = ctx.dataset(GRAMMAR).text[:TINY_CHARS]
    shape = shape_of(params.model)
    return new_model(shape, [text], vocab_chars=TINY_CHARS, seed=ctx.seed("init"))


def told_of(params: Any) -> dict[str, Any]:
    """Return what method a way of fine-tuning is; params: with `method`, `rank` and `gamma`."""
    return {
        "method": NAMES.get(params.method, params.method),
        "rank": params.rank,
        "gamma": params.gamma,
        "outside": params.method == "lora_ends",
    }


def held_row(params: Held, ctx: RunContext) -> list[Row]:
    """Count the bytes of a step, beside how many parameters and bytes the closed form says."""
    shape, told = shape_of(params.shape), told_of(params)
    method = from_params(**told, alpha=1.0, sampler=FirstBlocks(shape.num_blocks, params.gamma))
    workload = Workload(seq_len=params.seq_len, batch_size=params.batch_size, dtype="float32")
    device = "cpu" if params.how == "count" else "meta"
    found = count(shape.config(), method, workload, device=device, seed=ctx.seed("init"))
    return [found.row(shape, dtype="float32", **told, embeddings=False)]


def scored_rows(params: Compared, ctx: RunContext, setting: Setting) -> list[Row]:
    """Return the held-out loss, and a model's accuracy on each benchmark that is asked."""
    loss = setting.loss(setting.lm.model, params.held_out)
    rows: list[Row] = [_row(params.held_out, params.num_steps, loss=loss)]
    small = params.model == SMALLEST
    most = TINY_DOCUMENTS if small else MAX_DOCUMENTS
    documents = documents_for(datasets_of(params.benchmarks), ctx, most=most, made_up=small)
    if documents:
        stay_offline()
        # It imports lm-eval.
        from reproductions.lisa.models.benchmarks.evaluation import lm_eval_scores

        rows += [
            {
                **_row(score.task, params.num_steps, loss=None),
                "accuracy": score.value,
                "stderr": score.stderr,
                "random_accuracy": score.random_value,
                "num_documents": score.num_documents,
            }
            for score in lm_eval_scores(setting.lm, documents)
        ]
    return rows


def _row(split: str, step: int, *, loss: float | None) -> dict[str, str | int | float | None]:
    empty = dict.fromkeys(("accuracy", "stderr", "random_accuracy", "num_documents"))
    return {"split": split, "step": step, "loss": loss, **empty}
