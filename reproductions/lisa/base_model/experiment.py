"""The in-house model: pre-trained on running text, the start of all fine-tuning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import (
    Estimate,
    Experiment,
    Needs,
    RawParams,
    Row,
    RunContext,
    UpstreamResult,
)
from reproductions.lisa.models.shapes import shape_of

if TYPE_CHECKING:
    from reproductions.lisa.models.language_model import LanguageModel

GRAMMAR = "grammar-text"
SMOKE: dict[str, bool | int | float | str] = {
    "shape": "tiny-path", "data": GRAMMAR, "seed": 0, "num_steps": 12, "batch_size": 4,
    "lr": 3e-3, "text_chars": 20_000, "vocab_chars": 20_000,
}  # fmt: skip
CPU: dict[str, bool | int | float | str] = {
    "shape": "tiny-quality", "data": "books", "seed": 0, "num_steps": 1200, "batch_size": 32,
    "lr": 1e-3, "text_chars": 200_000, "vocab_chars": 40_000,
}  # fmt: skip
"""The steps see each token once: 94 books, of each the first `text_chars` characters."""
SECONDS_PER_STEP = 1.1


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Train, keep weights and tokenizer; one row a stretch of steps, with the held-out loss."""
    from reproductions.lisa.base_model.trial import pretrain_rows

    return pretrain_rows(params, ctx)


def load_pretrained(params: RawParams, upstream: UpstreamResult) -> LanguageModel:
    """Return a finished trial's model; `params` are those of that trial."""
    from reproductions.lisa.models.pretraining import TOKENIZER, WEIGHTS, load

    shape = shape_of(str(params["shape"]))
    return load(shape, upstream.load(WEIGHTS), upstream.load(TOKENIZER))


def needs(params: RawParams) -> Needs:
    """Return the text, and room for all of it as tokens."""
    return Needs(
        data=(str(params["data"]),), memory_bytes=2**31, packages=("transformers", "tokenizers")
    )


def estimate(params: RawParams) -> Estimate:
    """Return a start and the steps' time at their batch size."""
    tokens = int(params["num_steps"]) * int(params["batch_size"])
    share = 1.0 if params["shape"] == "tiny-quality" else 0.02
    return Estimate(seconds=6.0 + SECONDS_PER_STEP * share * tokens / 32, memory_bytes=2**31)


def smoke_grid() -> Iterator[RawParams]:
    """Yield a few steps of a smaller model on made-up text."""
    yield SMOKE


def cpu_grid() -> Iterator[RawParams]:
    """Yield the model that is fine-tuned."""
    yield CPU


experiment = Experiment(
    id="lisa/pretrain",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    needs=needs,
    estimate=estimate,
    timeout_s=7200.0,
    address=("shape", "data", "seed"),
)
