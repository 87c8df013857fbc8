"""From a text to the loss of every step, by every method."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from harness.declare import Row, RunContext
from harness.errors import SpecError
from reproductions.paro.convergence.experiment import ALONE, Training, methods_of
from reproductions.paro.convergence.loops import net_of, padding, train_alone, train_on_rank
from reproductions.paro.models.gloo_ranks import on_ranks


def loss_rows(training: Training, ctx: RunContext) -> list[Row]:
    """Train by every method; return a row per method and step."""
    if training.num_sequences % (training.num_ranks * training.micro_steps):
        raise SpecError(
            f"num_sequences={training.num_sequences} does not divide into {training.micro_steps}"
            f" micro-batches on each of {training.num_ranks} ranks"
        )
    tokens_N, vocabulary = encoded(ctx.dataset(training.data).text)
    windows, init = windows_of(training, tokens_N, ctx.seed("text")), ctx.seed("init")
    ranks = on_ranks(
        train_on_rank, training.num_ranks, timeout_s=3000.0, point=training.to_json(),
        windows=windows.tolist(), vocabulary=vocabulary, init=init,
    )  # fmt: skip
    lines = {
        name: np.mean([rank[name] for rank in ranks], axis=0)
        for name in methods_of(training)
        if name != ALONE
    }
    lines[ALONE] = np.array(train_alone(training, windows, vocabulary, init))
    least = padding(net_of(training, vocabulary, init), training.num_ranks)
    return [
        {"method": name, "step": step, "loss": float(loss), "norm": float(norm),
         "least_padding": least}
        for name in methods_of(training)
        for step, (loss, norm) in enumerate(lines[name], start=1)
    ]  # fmt: skip


def encoded(text: str) -> tuple[Tensor, int]:
    """Return a text's characters as numbers, and how many there are of them.

    >>> encoded("abba")
    (tensor([0, 1, 1, 0]), 2)
    """
    characters = sorted(set(text))
    table = {character: place for place, character in enumerate(characters)}
    return torch.tensor([table[character] for character in text]), len(characters)


def windows_of(training: Training, tokens_N: Tensor, seed: int) -> Tensor:
    """Return stretches of a text at random places: (steps, sequences, T + 1)."""
    shape = (training.num_steps, training.num_sequences)
    last = len(tokens_N) - training.context
    starts = torch.randint(last, shape, generator=torch.Generator().manual_seed(seed))
    return tokens_N[starts[..., None] + torch.arange(training.context + 1)]
