"""The models that benchmarks and judges score: ours, tuned at the best rate, and the paper's,
handed in."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from harness.declare.experiment import RawParams, RunContext, UpstreamResult, Use
from harness.declare.params import Scalar
from harness.errors import DataError
from reproductions.lisa.base_model import experiment as pretrain
from reproductions.lisa.finetuning import experiment as finetune

if TYPE_CHECKING:
    from reproductions.lisa.models.language_model import LanguageModel

Point = dict[str, Scalar]

VANILLA = "vanilla"
"""The model before fine-tuning, as the paper's quality tables call it."""
METHODS = ("lora", "galore", "lisa", "full")
"""Beside it, in the order of Table 2."""
SMOKE_MODEL = "tiny-path"
THREE, LARGEST = ("tinyllama", "mistral-7b", "llama-2-7b"), "llama-2-70b"
"""The paper's models in Tables 2 and 3; in Tables 5 and 9."""
SEEDS = (0, 1, 2)
"""Of the paper's models: a claim on them needs three."""
NOT_GIVEN = "not given"


def best_rate(params: RawParams, ctx: RunContext) -> float | None:
    """Return the learning rate with the least validation loss, the mean over all training seeds.

    None where a run diverged at every rate.
    """
    means = {}
    for lr in finetune.LRS:
        trials = [tuned(params, lr=lr, seed=seed) for seed in finetune.SEEDS]
        losses = [validation_loss(ctx.upstream(finetune.experiment, **one)) for one in trials]
        means[float(trials[0]["lr"])] = fmean(losses)
    best = min(means, key=lambda lr: means[lr])
    return None if math.isinf(means[best]) else best


def validation_loss(upstream: UpstreamResult) -> float:
    """Return the loss that learning rates are chosen by; infinite where the run diverged."""
    losses = [row["loss"] for row in upstream.rows if row["split"] == "validation"]
    return float(losses[0]) if losses and losses[0] is not None else math.inf


def tuned(params: RawParams, *, lr: float, seed: int) -> Point:
    """Return the fine-tuning trial of a method at a rate and seed.

    params: with `model` and `method`. At `smoke`, which has one rate and seed, always the same:
    an experiment names as many of them at every profile.
    """
    method = str(params["method"])
    if params["model"] == SMOKE_MODEL:
        first = next(point for point in finetune.smoke_grid() if point["method"] == method)
        return {**first, "keep_weights": True}
    found = finetune.points(finetune.OURS, finetune.of_method(method), lrs=(lr,))
    return next(point for point in found if point["seed"] == seed)


def load_tuned(params: RawParams, ctx: RunContext, *, lr: float) -> LanguageModel:
    """Return the model that a method came to at a rate, at the seed that `params` name."""
    trial = tuned(params, lr=lr, seed=int(params["seed"]))
    return finetune.weights_of(ctx.upstream(finetune.experiment, **trial), trial, ctx)


def load_given(params: RawParams, *, device: str) -> LanguageModel:
    """Return `FOLDER/<model>-<method>-<seed>`, a model and tokenizer saved by transformers.

    Raises DataError where no folder was given, or it has no such model.
    """
    name = f"{params['model']}-{params['method']}-{params['seed']}"
    folder = Path(str(params["checkpoint"])) / name
    if params["checkpoint"] == NOT_GIVEN or not (folder / "config.json").is_file():
        raise DataError(
            f"no model {name}: save each model and method of the paper in a folder and say "
            "--set checkpoint=FOLDER"
        )
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from reproductions.lisa.models.language_model import LanguageModel

    model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto", local_files_only=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return LanguageModel(model=model.to(device), tokenizer=tokenizer)


OF_BASE = (Use(experiment=pretrain.experiment, params=finetune.pretrained),)
"""What an experiment uses that scores the model before fine-tuning."""
OF_TUNED = (
    *OF_BASE,
    *(
        Use(experiment=finetune.experiment, params=partial(tuned, lr=lr, seed=seed))
        for lr in finetune.LRS
        for seed in finetune.SEEDS
    ),
)
"""What one uses that scores `load_tuned` at the `best_rate`."""
