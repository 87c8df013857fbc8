"""From the parameters of models handed in to rows, and what a step of theirs would take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from harness.declare import DryRun, Row, RunContext
from reproductions.fg2u.adaptation.experiment import FIRST_DEPTH
from reproductions.fg2u.adaptation.given_experiment import STREAM_LRS, Given
from reproductions.fg2u.adaptation.learning import learn, read_rows
from reproductions.fg2u.models.adaptation import no_preference, whole_model
from reproductions.fg2u.models.documents import Corpus
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.given_lm import (
    given_corpus,
    given_model,
    given_records,
    given_tokenizer,
)
from reproductions.fg2u.models.squad import DOCS, as_given


def given_rows(params: Given, ctx: RunContext) -> list[Row]:
    """Learn by RGU, then by (FG)2U where that is asked; let the readers read the stream."""
    folder = params.checkpoint
    trunk = given_model(folder, params.trunk, ctx.device)
    base = trunk
    if params.base != params.trunk:
        base = given_model(folder, params.base, ctx.device)
    corpus = _corpus(params, ctx)
    if params.weight_model == "whole":
        phi = whole_model(trunk, generator_of(ctx, "weight model"))
    else:
        phi = no_preference(trunk.num_features, ctx.device)
    readers = {
        name: given_model(folder, model, ctx.device)
        for name, model in (word.split("=") for word in params.readers.split())
    }
    rows: list[Row] = []
    if params.phase == 1:
        equal = {"weighing": "equal", "seconds": 0.0}
        rows += read_rows(readers, trunk, phi, corpus, STREAM_LRS, equal)
    said = learn(first_part(params), ctx, phi, corpus, base=trunk, trunk=trunk)
    if params.phase == 2:
        later = replace(params, steps=params.second_steps, lr=params.second_lr)
        said = learn(later, ctx, phi, corpus, base=base, trunk=trunk)
    said = {"weighing": "learned", **said}
    return rows + read_rows(readers, trunk, phi, corpus, STREAM_LRS, said)


def first_part(params: Given) -> Given:
    """Return RGU on the small base, the same for every trial of a stream and seed."""
    return replace(
        params,
        method="rgu",
        depth=FIRST_DEPTH,
        num_directions=0,
        accumulate=params.first_accumulate,
    )


def _corpus(params: Given, ctx: RunContext) -> Corpus:
    tokenizer = given_tokenizer(params.checkpoint, params.base)
    if params.documents == "staged":
        records: list[dict[str, Any]] = as_given(ctx.dataset(DOCS).records)
    else:
        records = given_records(params.checkpoint, params.documents)
    return given_corpus(records, tokenizer, params.window)


@dataclass(frozen=True, slots=True)
class Published:
    """A model that is unrolled, as it is published."""

    family: str
    num_params: int
    """A tied head counts once."""
    width: int
    config: dict[str, int | bool]
    """What differs from the family's defaults in transformers."""

    def counted(self) -> int:
        """Return the weights of the model built on the meta device."""
        from transformers import AutoConfig, AutoModelForCausalLM

        config = AutoConfig.for_model(self.family, **self.config)
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
        return sum(weight.numel() for weight in model.parameters())


PUBLISHED = {
    "distilgpt2": Published("gpt2", 81_912_576, 768, {"n_layer": 6}),
    "gpt2": Published("gpt2", 124_439_808, 768, {"n_layer": 12}),
    "smollm2-135m": Published(
        "llama", 134_515_008, 576,
        {"hidden_size": 576, "intermediate_size": 1536, "vocab_size": 49152,
         "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
         "tie_word_embeddings": True},
    ),
}  # fmt: skip


def dry_run(params: Given) -> DryRun:
    """Count the model that is unrolled and one outer step of the trial's last phase.

    Memory: weights and gradients of base and weight model, and either the states of every step
    (RGU, without the graphs of the steps, which are larger) or one direction's tangents. FLOPs: two
    per weight and token forward, twice that backward, and as much again per derivative of it.
    """
    base, trunk = PUBLISHED[params.base], PUBLISHED[params.trunk]
    learned = trunk.num_params if params.weight_model == "whole" else trunk.width + 1
    held = 2 * (base.num_params + learned)
    held += base.num_params * (params.depth if params.method == "rgu" else 2) + learned
    derivatives = 3 if params.method == "rgu" else 1 + 2 * params.num_directions
    tokens = params.depth * params.window * params.accumulate
    return DryRun(
        num_params=base.counted(),
        expected_num_params=base.num_params,
        memory_bytes=4 * held,
        step_flops=6 * (base.num_params + learned) * tokens * derivatives,
        num_steps=params.steps + params.second_steps,
    )
