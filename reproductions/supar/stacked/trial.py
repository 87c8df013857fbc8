"""From the parameters of a trial to a row per way to take a step of a sweep."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from harness.measure.in_turn import Way, rows_in_turn
from reproductions.kernels.backend import without_kernels
from reproductions.kernels.precision import tolerance
from reproductions.supar.models.gpt_trial import corpus_of
from reproductions.supar.models.text import Corpus, training_batches
from reproductions.supar.models.training import generator_of
from reproductions.supar.stacked.experiment import WAYS, How, SweepStep, small_sweep
from reproductions.supar.stacked.stepping import NUM_STEPS, InAStack, OneByOne, parting, sweep_of

NUM_BATCHES = 8
"""They lie on the device and come in turn."""


def step_rows(params: SweepStep, ctx: RunContext) -> list[Row]:
    """Time a step of all nets of a sweep, in a stack and one by one, with kernels and without."""
    small = small_sweep(params.device)
    share = parting(small, ctx.seed("small"))
    # The longest sum of a step: a gradient's, over all tokens.
    length = NUM_STEPS * small.batch_size * small.context
    agrees = share <= tolerance(torch.float32, length)["rtol"]
    corpus = corpus_of(params, ctx)
    seeds = [ctx.seed(f"member {number}") for number in range(params.num_members)]
    ways = [
        Way(
            told={"how": how, "kernels": kernels},
            make=partial(_made, how, params, corpus, seeds),
            within=nullcontext if kernels else without_kernels,
        )
        for how, kernels in WAYS
    ]
    rows = rows_in_turn(
        ways, device=ctx.device, num_warmup=params.num_warmup, num_timed=params.steps
    )
    # Small nets were held against each other as the first way trains them.
    asked = {"agrees": agrees, "apart": share}
    return [row | (dict.fromkeys(asked) if number else asked) for number, row in enumerate(rows)]


def _made(how: How, params: SweepStep, corpus: Corpus, seeds: list[int]) -> Callable[[], None]:
    """Return what steps all nets once, on the next batch of each."""
    way = InAStack if how == "stacked" else OneByOne
    stepping = way(sweep_of(params, seeds, corpus.vocab_size))
    batches = itertools.cycle(_batches(params, corpus, seeds))
    return lambda: stepping.step(*next(batches))


def _batches(params: SweepStep, corpus: Corpus, seeds: list[int]) -> list[tuple[Tensor, Tensor]]:
    """Return tokens and targets of all members, (M, B, T) each; every member has its own."""
    streams = [
        training_batches(
            corpus.train_N, context=params.context, batch_size=params.batch_size,
            num_batches=NUM_BATCHES, generator=generator_of(seed),
        )
        for seed in seeds
    ]  # fmt: skip
    return [
        (
            torch.stack([batch.tokens_BT for batch in several]).to(params.device),
            torch.stack([batch.targets_BT for batch in several]).to(params.device),
        )
        for several in zip(*streams, strict=True)
    ]
