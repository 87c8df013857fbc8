"""Trials that train a GPT: what parameters mean, and what a run leaves behind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from harness.declare.experiment import Experiment, Outcome, Status
from reproductions.nets.gpt import GPT
from reproductions.supar.models.gpt_trial import (
    EVAL_WINDOWS,
    corpus_of,
    divergence,
    finish,
    gpt_config,
    parameterization_of,
    prepare,
)
from reproductions.supar.models.text import held_out_batch
from reproductions.supar.models.training import TrainLog, build_adamw, evaluate
from reproductions.supar.sweeps.experiment import (
    lr_sweep,
    sigma_sweep,
)
from reproductions.supar.transfer.experiment import transfer
from tests.reproductions.supar import small

LOSSES = ("train_loss", "val_loss", "test_loss")


def smoke(experiment: Experiment, **changes: Any) -> Any:
    """Return an experiment's first smoke trial, changed."""
    return replace(small.points(experiment)[0], **changes)


def trial(experiment: Experiment, **changes: Any) -> tuple[Outcome, small.Context]:
    params = smoke(experiment, **changes)
    context = small.Context(experiment, params)
    outcome = small.run(experiment, params, context)
    assert isinstance(outcome, Outcome)
    return outcome, context


def test_a_diverged_trial_keeps_its_row_without_losses() -> None:
    outcome, _ = trial(lr_sweep, log2_lr=60.0)
    assert outcome.status is Status.DIVERGED
    assert outcome.note
    assert [outcome.rows[0][name] for name in LOSSES] == [None] * 3


def test_a_finite_loss_far_above_guessing_counts_as_diverged() -> None:
    losses = torch.full((10,), 9.0)
    log = TrainLog(losses=losses, num_steps=10, num_clipped=0, diverged="")
    assert "over 2 ln V" in divergence(log, 65)
    assert divergence(replace(log, losses=losses - 1.0), 65) == ""


def test_each_held_out_loss_is_of_its_own_part() -> None:
    params = smoke(lr_sweep)
    # The validation part is of one letter, which is nowhere else.
    text = "to be or not to be " * 180 + "@" * 190 + "that is it " * 17 + "at"
    context = small.Context(lr_sweep, params, text=text)
    prepared = prepare(params, context, mask_density=params.density)
    log = TrainLog(losses=torch.ones(10), num_steps=10, num_clipped=0, diverged="")
    (row,) = finish(prepared, log).rows
    corpus, length = prepared.corpus, prepared.model.config.context
    for name, part in (("val_loss", corpus.validation_N), ("test_loss", corpus.test_N)):
        windows = held_out_batch(part, context=length, num_windows=EVAL_WINDOWS)
        assert row[name] == evaluate(prepared.model, windows), name
    assert row["val_loss"] != row["test_loss"]


def test_transfer_keeps_the_net_that_its_losses_are_of() -> None:
    outcome, context = trial(transfer)
    params = smoke(transfer)
    corpus = corpus_of(params, context)
    config = gpt_config(params, parameterization_of(params), corpus.vocab_size)
    net = GPT(config, generator=torch.Generator())
    weights = dict(context.saved["model.safetensors"])
    net.load_state_dict({n: weights[n] for n in net.state_dict()})
    windows = held_out_batch(corpus.validation_N, context=config.context, num_windows=EVAL_WINDOWS)
    assert evaluate(net, windows) == pytest.approx(outcome.rows[0]["val_loss"], rel=1e-6)


def test_a_diverged_transfer_keeps_no_net() -> None:
    outcome, context = trial(transfer, lr=1e30)
    assert outcome.status is Status.DIVERGED
    assert not context.saved


@pytest.mark.parametrize("scheme", ["sp", "supar"])
def test_a_sweep_of_the_start_moves_the_embedding_and_the_hidden_weights(scheme: str) -> None:
    params = smoke(sigma_sweep, scheme=scheme, log2_sigma=-2.0, density=0.25)
    model = prepare(params, small.Context(sigma_sweep, params), mask_density=0.25).model
    assert float(model.tokens.weight.detach().std()) == pytest.approx(0.25, rel=0.1)
    hidden = model.blocks[0].feed_forward.up.weight.detach()
    # Width 64 over 32, a quarter kept: SmuPar divides by the root of 2 / 4.
    expected = 0.25 if scheme == "sp" else 0.25 / 0.5**0.5
    assert float(hidden[hidden != 0].std()) == pytest.approx(expected, rel=0.1)


def test_adam_is_that_of_the_authors_code() -> None:
    params = smoke(lr_sweep)
    prepared = prepare(params, small.Context(lr_sweep, params), mask_density=params.density)
    groups = build_adamw(prepared.model, prepared.parameterization).param_groups
    assert len(groups) > 1
    for group in groups:
        assert (tuple(group["betas"]), group["eps"]) == ((0.9, 0.95), 1e-8)
        assert group["weight_decay"] == 0.0
