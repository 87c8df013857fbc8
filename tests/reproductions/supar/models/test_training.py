"""Training: its random streams, schedule and divergence."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

import pytest
import torch

from harness.errors import DataError, SpecError
from reproductions.supar import (
    SCHEMES,
    Parameterization,
    masked_layers,
    max_abs_masked,
)
from reproductions.supar.models.points import Training
from reproductions.supar.models.text import (
    Batch,
    character_corpus,
    training_batches,
)
from reproductions.supar.models.training import (
    Seeds,
    TrainLog,
    build_adamw,
    build_gpt,
    generator_of,
    lr_factor,
    train,
)
from reproductions.supar.sweeps.experiment import lr_sweep
from tests.reproductions.supar import small

TRAINING = small.TRAINING


def _train(
    table: Parameterization, training: Training = TRAINING, data: Iterable[Batch] | None = None
) -> TrainLog:
    model = small.gpt(table)
    return train(model, build_adamw(model, table), data or small.batches(), training)


def test_splits_are_contiguous_and_vocabulary_is_sorted() -> None:
    corpus = character_corpus(small.TEXT)
    tokens = torch.cat([corpus.train_N, corpus.validation_N, corpus.test_N])
    letters = sorted(set(small.TEXT))
    assert "".join(letters[token] for token in tokens.tolist()) == small.TEXT
    assert corpus.vocab_size == len(letters)
    assert len(corpus.train_N) == int(0.9 * len(small.TEXT))
    assert len(corpus.validation_N) == int(0.05 * len(small.TEXT))
    with pytest.raises(DataError, match="empty text"):
        character_corpus("")


def test_targets_are_one_place_ahead() -> None:
    for batch in small.batches(2):
        assert torch.equal(batch.tokens_BT[:, 1:], batch.targets_BT[:, :-1])


def test_windows_are_fresh_until_the_text_is_used_up() -> None:
    tokens_N = torch.arange(16 * 20 + 1)
    batches = training_batches(
        tokens_N, context=16, batch_size=4, num_batches=10, generator=generator_of(0)
    )
    starts = torch.cat([batch.tokens_BT[:, 0] for batch in batches])
    places = list(range(0, 320, 16))
    assert starts[:20].sort().values.tolist() == places
    assert starts[20:].sort().values.tolist() == places
    assert starts[:20].tolist() != starts[20:].tolist()


def test_masks_and_the_start_follow_a_seed_each() -> None:
    table = small.table()

    def drawn(*, init: int, masks: int) -> tuple[torch.Tensor, torch.Tensor]:
        seeds = Seeds(init=init, masks=masks)
        model = build_gpt(small.config(table), table, seeds, mask_density=table.density)
        layer = next(iter(masked_layers(model).values()))
        return layer.weight_mask, model.tokens.weight

    mask, start = drawn(init=0, masks=1)
    for init, masks in ((0, 2), (3, 1)):
        other_mask, other_start = drawn(init=init, masks=masks)
        assert torch.equal(mask, other_mask) == (masks == 1)
        assert torch.equal(start, other_start) == (init == 0)


def test_schemes_at_one_seed_share_masks_draws_and_batches() -> None:
    masks = [
        {name: layer.weight_mask for name, layer in masked_layers(small.gpt(table)).items()}
        for table in (small.table(scheme) for scheme in SCHEMES)
    ]
    assert all(torch.equal(masks[0][name], other[name]) for other in masks[1:] for name in masks[0])
    params = small.points(lr_sweep)[0]
    seeds = {
        small.Context(lr_sweep, replace(params, scheme=scheme, log2_lr=lr)).seed(stream)
        for scheme in SCHEMES
        for lr in (-5.0, -6.0)
        for stream in ("init", "masks", "batches")
    }
    assert len(seeds) == 3


@pytest.mark.parametrize(
    ("schedule", "last"), [("to_tenth", 0.1 + 0.9 / 90), ("to_zero", 1 / 90), ("constant", 1.0)]
)
def test_schedules(schedule: str, last: float) -> None:
    settings = replace(TRAINING, steps=100, warmup_steps=10, schedule=schedule)
    factors = [lr_factor(step, settings) for step in range(100)]
    assert factors[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert factors[10] == 1.0
    assert factors[-1] == pytest.approx(last)
    steps = [a - b for a, b in itertools.pairwise(factors[10:])]
    assert steps == pytest.approx([steps[0]] * len(steps))


def test_learning_rates_of_all_groups_follow_the_schedule() -> None:
    table = small.table()
    model = small.gpt(table)
    optimizer = build_adamw(model, table)
    peaks = [group["lr"] for group in optimizer.param_groups]
    train(model, optimizer, small.batches(), TRAINING)
    expected = [peak * lr_factor(TRAINING.steps - 1, TRAINING) for peak in peaks]
    assert [group["lr"] for group in optimizer.param_groups] == expected


def test_parts_of_a_batch_add_up_to_the_batch() -> None:
    whole = _train(small.table()).losses
    parts = _train(small.table(), replace(TRAINING, micro_batches=4)).losses
    # Adam turns a rounding error of a tiny gradient into a whole step, so errors grow.
    torch.testing.assert_close(whole, parts, rtol=1e-3, atol=0.0)
    torch.testing.assert_close(whole[:2], parts[:2], rtol=1e-6, atol=0.0)


def test_what_cannot_be_trained_as_asked_is_refused() -> None:
    for words, make in {
        "7 batches for steps=12": lambda: _train(small.table(), data=small.batches(7)),
        "warmup_steps=12": lambda: replace(TRAINING, warmup_steps=12),
        "schedule='cosine'": lambda: replace(TRAINING, schedule="cosine"),
    }.items():
        with pytest.raises(SpecError, match=words):
            make()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_run_has_the_masks_of_a_cpu_run_and_keeps_them() -> None:
    table = small.table()
    seeds = Seeds(init=0, masks=1000)
    model = build_gpt(small.config(table), table, seeds, mask_density=0.25, device="cuda")
    log = train(model, build_adamw(model, table), small.batches(), TRAINING)
    assert log.diverged == ""
    assert max_abs_masked(model) == 0.0
    expected = masked_layers(small.gpt(table))
    for name, layer in masked_layers(model).items():
        assert torch.equal(layer.weight_mask.cpu(), expected[name].weight_mask), name
