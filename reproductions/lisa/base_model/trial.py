"""From the parameters of a pre-training trial to its rows and artifacts."""

from __future__ import annotations

from harness.declare import Row, RunContext
from reproductions.lisa.base_model.experiment import Pretrain
from reproductions.lisa.models.pretraining import (
    TOKENIZER,
    WEIGHTS,
    new_model,
    pretrain,
)
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.tokenizer import as_tensor
from reproductions.lisa.models.training import Recipe, mean_loss, whole, windows

MAX_HELD_OUT = 256
"""Windows."""
NUM_ROWS = 12
HELD_OUT_EACH = 20
"""Of texts that come without splits each so manieth is held out."""


def pretrain_rows(params: Pretrain, ctx: RunContext) -> list[Row]:
    """Train, save weights and tokenizer, and return the loss over stretches of steps.

    The last row also has the loss on held-out text, and how many characters a token has there.
    """
    texts, unseen = texts_of(params, ctx)
    lm = new_model(
        shape_of(params.shape), texts,
        vocab_chars=params.vocab_chars, seed=ctx.seed("init"),
    )  # fmt: skip
    recipe = recipe_of(params)
    losses = pretrain(
        lm, windows(lm, texts, num_tokens=lm.context), recipe,
        batch_size=params.batch_size, seed=ctx.seed("batches"),
        checkpoint=ctx.checkpoint_path(),
    )  # fmt: skip
    ctx.save(WEIGHTS, lm.model.state_dict())
    ctx.save(TOKENIZER, {"json": as_tensor(lm.tokenizer.backend_tokenizer)})
    held_out = windows(lm, unseen, num_tokens=lm.context)[:MAX_HELD_OUT]
    num_chars = sum(len(lm.tokenizer.decode(row[1:])) for row in held_out)
    stretch = max(1, len(losses) // NUM_ROWS)
    ends = range(stretch, len(losses) + 1, stretch)
    rows: list[Row] = [
        {"step": end, "split": "train", "loss": sum(losses[end - stretch : end]) / stretch}
        for end in ends
    ]
    rows.append(
        {
            "step": len(losses), "split": "held_out",
            "loss": mean_loss(lm.model, map(whole, held_out.split(32))),
            "chars_per_token": num_chars / held_out[:, 1:].numel(),
        }
    )  # fmt: skip
    return rows


def texts_of(params: Pretrain, ctx: RunContext) -> tuple[list[str], list[str]]:
    """Return the texts to train on and those held out: whole books, or a tenth of one text."""
    most = params.text_chars
    content = ctx.dataset(params.data)
    if isinstance(content.value, str):
        return [content.text[:most]], [content.text[-most // 4 :]]
    parts: dict[str, list[str]] = {"train": [], "valid": []}
    for number, book in enumerate(content.records, start=1):
        unsplit = "train" if number % HELD_OUT_EACH else "valid"
        parts[book.get("split", unsplit)].append(book["text"][:most])
    return parts["train"], parts["valid"]


def recipe_of(params: Pretrain) -> Recipe:
    """Return how the model is trained: AdamW with a short warm-up and a cosine to a tenth."""
    num_steps = params.num_steps
    return Recipe(
        lr=params.lr, num_steps=num_steps, warmup_steps=num_steps // 12,
        last_lr_share=0.1, weight_decay=0.1, betas=(0.9, 0.95), clip_norm=1.0,
    )  # fmt: skip
