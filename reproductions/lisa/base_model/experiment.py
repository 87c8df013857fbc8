"""The in-house model: pre-trained on running text, the start of all fine-tuning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.declare import Estimate, Experiment, Needs, Params, Profile, RunContext, Use, doc, seed
from reproductions.lisa.models.names import GRAMMAR, IN_HOUSE, QUALITY, SMALLEST

if TYPE_CHECKING:
    from reproductions.lisa.models.language_model import LanguageModel

TEXT = "kjv"
"""What the in-house model is pre-trained on: records with a `text`."""


class Pretrain(Params):
    """Training of new weights on running text."""

    shape: str = doc("Model, with new weights.")
    data: str = doc("Text that it is trained on.")
    seed: int = seed("One pre-training: weights and batches.", default=0)
    num_steps: int = doc("Optimizer steps.")
    batch_size: int = doc("Windows per step.")
    lr: float = doc("Learning rate at its height.")
    text_chars: int = doc("Characters of each text that count, from its start.")
    vocab_chars: int = doc("Characters of each text that the tokenizer is learned from.")


TRAINED = {
    "smoke": Pretrain(
        shape=SMALLEST, data=GRAMMAR, num_steps=12, batch_size=4, lr=3e-3, text_chars=20_000,
        vocab_chars=20_000,
    ),
    "cpu": Pretrain(
        shape=QUALITY, data=TEXT, num_steps=1200, batch_size=32, lr=1e-3, text_chars=200_000,
        vocab_chars=40_000,
    ),
}  # fmt: skip


def grid(profile: Profile) -> Iterator[Pretrain]:
    """Yield the model that is fine-tuned; at `smoke` a smaller one on made-up text."""
    if profile in TRAINED:
        yield TRAINED[profile]


pretraining = Experiment(
    "lisa/pretrain",
    version=1,
    params=Pretrain,
    grid=grid,
    run="trial:pretrain_rows",
    needs=lambda params: Needs(
        data=(params.data,), memory_bytes=2**31, packages=("transformers", "tokenizers")
    ),
    estimate=lambda params: Estimate(
        seconds=3.0 if params.shape == SMALLEST else 1300.0, memory_bytes=2**31
    ),
    timeout_s=7200.0,
    address=("shape", "data", "seed"),
)


def pretrained(model: str, text: str = TEXT) -> Pretrain:
    """Return the pre-training that a trial on a model starts from."""
    return TRAINED["smoke"] if model == SMALLEST else replace(TRAINED["cpu"], data=text)


def _start_of(params: Any) -> Pretrain:
    return pretrained(params.model, getattr(params, "text", TEXT))


USES_BASE = (Use(experiment=pretraining, params=_start_of),)
"""What an experiment uses whose trials start from `base_of`."""


def base_of(model: str, ctx: RunContext, text: str = TEXT) -> LanguageModel:
    """Return the model that a trial starts from: pre-trained here, or one that others trained.

    text: what the in-house model was pre-trained on.
    """
    if model not in IN_HOUSE:
        from reproductions.lisa.models.stories import read_stories

        lm = read_stories(model, ctx.dataset)
        lm.model.float()
        return lm
    from reproductions.lisa.models.pretraining import TOKENIZER, WEIGHTS, load
    from reproductions.lisa.models.shapes import shape_of

    start = pretrained(model, text)
    upstream = ctx.upstream(pretraining, start)
    return load(shape_of(start.shape), upstream.load(WEIGHTS), upstream.load(TOKENIZER))
