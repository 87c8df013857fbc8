"""Trials that ask a trained net: Table 2's tasks by lm-eval, or questions about held-out text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

from harness.declare import Outcome, Row, RunContext, Status
from harness.errors import DataError
from harness.lm_eval import Documents, LMTask, stay_offline
from reproductions.nets.gpt import GPT, GPTConfig
from reproductions.supar.downstream.continuations import (
    choice_accuracy,
    choice_items,
    greedy_accuracy,
    items_sha256,
    last_word_items,
    load_net,
)
from reproductions.supar.downstream.experiment import (
    DATASETS,
    NOT_GIVEN,
    UNTRAINED,
    GivenNet,
    QuestionedNet,
    ScoredNet,
    net_of,
)
from reproductions.supar.downstream.lm_tasks import documents_from_text, local_tasks, stock_tasks
from reproductions.supar.downstream.table import not_scored
from reproductions.supar.models.costs import VOCABULARY
from reproductions.supar.models.gpt_trial import (
    MODEL,
    corpus_of,
    gpt_config,
    parameterization_of,
)
from reproductions.supar.models.training import generator_of
from reproductions.supar.transfer.experiment import transfer

ITEMS_SEED = 0
"""Seed of the questions; no part of a grid, so that nets are never asked unlike ones."""
NUM_CHOICES = 4
DIVERGED = "its net diverged in training"


def score_kept(params: ScoredNet, ctx: RunContext) -> Outcome:
    """Score the net of a transfer trial; one row per task, without accuracy where it diverged."""
    upstream = ctx.upstream(transfer, net_of(params))
    if upstream.rows[0]["val_loss"] is None:
        rows = [not_scored(name) for name in DATASETS]
        return Outcome(rows=rows, status=Status.DIVERGED, note=DIVERGED)
    return Outcome(rows=_score(params, ctx, upstream.load(MODEL)))


def score_given(params: GivenNet, ctx: RunContext) -> Outcome:
    """Score a net handed in, or an untrained one; one row per task."""
    if params.checkpoint == UNTRAINED:
        return Outcome(rows=_score(params, ctx, None))
    return Outcome(rows=_score(params, ctx, load_file(checkpoint_file(params))))


def checkpoint_file(params: GivenNet) -> Path:
    """Return `FOLDER/<scheme>-<density>-<seed>.safetensors`, a `state_dict` of our GPT.

    Raises DataError where no folder was given, or it has no such file.
    """
    name = f"{params.scheme}-{params.density:.7g}-{params.seed}.safetensors"
    path = Path(params.checkpoint) / name
    if params.checkpoint == NOT_GIVEN or not path.is_file():
        raise DataError(
            f"no checkpoint {name}: keep one of each net of Figure 3 in a folder and say "
            "--set checkpoint=FOLDER"
        )
    return path


def _score(
    params: ScoredNet | GivenNet, ctx: RunContext, tensors: Mapping[str, Tensor] | None
) -> list[Row]:
    if params.suite != "stock":
        stay_offline()
    # lm-eval is imported once it is known to stay offline.
    from reproductions.supar.downstream.byte_lm import accuracies, byte_lm, gpt2_lm

    config = net_config(params)
    if tensors is None:
        model = GPT(config, generator=generator_of(ctx.seed("init"))).eval()
    else:
        model = load_net(config, tensors)
    language_model = (gpt2_lm if params.tokenizer == "gpt2" else byte_lm)(model.to(ctx.device))
    tasks = stock_tasks() if params.suite == "stock" else _local_tasks(params, ctx)
    return accuracies(language_model, tasks, num_documents=params.max_documents or None)


def net_config(params: ScoredNet | GivenNet) -> GPTConfig:
    """Return the net of a transfer trial, from its parameters."""
    return gpt_config(params, parameterization_of(params), VOCABULARY[params.tokenizer])


def _local_tasks(params: ScoredNet | GivenNet, ctx: RunContext) -> dict[str, LMTask]:
    if params.suite == "grammar":
        text = ctx.dataset("grammar-text").text
        return local_tasks(documents_from_text(text, params.max_documents))
    documents: dict[str, Documents] = {
        task: ctx.dataset(name).records for task, name in DATASETS.items()
    }
    # The staged file holds the training split, too.
    documents["arc_easy"] = [row for row in documents["arc_easy"] if row["split"] == "test"]
    return local_tasks(documents)


def answer_questions(params: QuestionedNet, ctx: RunContext) -> Outcome:
    """Ask the net of a transfer trial; one row per task, without accuracy where it diverged."""
    upstream = ctx.upstream(transfer, net_of(params))
    if upstream.rows[0]["val_loss"] is None:
        rows = [_answered(name, None, "") for name in ("choice", "last_word")]
        return Outcome(rows=rows, status=Status.DIVERGED, note=DIVERGED)
    corpus = corpus_of(params, ctx)
    config = gpt_config(params, parameterization_of(params), corpus.vocab_size)
    model = load_net(config, upstream.load(MODEL)).to(ctx.device)
    choices = choice_items(
        corpus.test_N,
        num_items=params.num_items,
        num_choices=NUM_CHOICES,
        context=params.prompt_bytes,
        continuation=params.continuation_bytes,
        generator=generator_of(ITEMS_SEED),
    )
    words = last_word_items(
        corpus.test_N,
        num_items=params.num_items,
        context=params.prompt_bytes,
        generator=generator_of(ITEMS_SEED),
    )
    rows = [
        _answered("choice", choice_accuracy(model, choices), items_sha256(choices)),
        _answered("last_word", greedy_accuracy(model, words), items_sha256(words)),
    ]
    return Outcome(rows=rows)


def _answered(task: str, accuracy: float | None, sha256: str) -> Row:
    guessing = 1.0 / NUM_CHOICES if task == "choice" else 0.0
    return {
        "task": task,
        "accuracy": accuracy,
        "random_accuracy": guessing,
        "items_sha256": sha256,
    }
