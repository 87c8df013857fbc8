"""Training: its random streams, schedule, divergence, and the sweep's trials and windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import replace

import pytest
import torch

from harness.errors import DataError, SpecError
from harness.task import PROFILES, Experiment, Status
from reproductions.supar import (
    SCHEMES,
    TABLE_3,
    Parameterization,
    Scheme,
    masked_layers,
    max_abs_masked,
)
from reproductions.supar.activations import coordinate_check as coordinate_check_of
from reproductions.supar.experiments import coordinate_check, lr_sweep
from reproductions.supar.text import Batch, character_corpus, held_out_batch, training_batches
from reproductions.supar.training import (
    Seeds,
    Settings,
    TrainLog,
    build_adamw,
    build_gpt,
    evaluate,
    generator_of,
    lr_factor,
    train,
)
from tests.reproductions.supar import small

SETTINGS = small.SETTINGS


def _train(
    table: Parameterization, settings: Settings = SETTINGS, data: Iterable[Batch] | None = None
) -> TrainLog:
    model = small.gpt(table)
    return train(model, build_adamw(model, table, settings), data or small.batches(), settings)


# --- text ---


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


def test_held_out_windows_spread_and_never_repeat() -> None:
    batch = held_out_batch(torch.arange(16 * 9 + 1), context=16, num_windows=64)
    assert batch.tokens_BT[:, 0].tolist() == list(range(0, 144, 16))
    with pytest.raises(DataError, match="no window"):
        held_out_batch(torch.arange(9), context=16, num_windows=64)


# --- random streams ---


def test_global_seeds_change_nothing_and_stay() -> None:
    losses = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        state = torch.get_rng_state()
        losses.append(_train(small.table()).losses)
        assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(losses[0], losses[1])


def test_schemes_at_one_seed_share_masks_draws_and_batches() -> None:
    masks = [
        {name: layer.weight_mask for name, layer in masked_layers(small.gpt(table)).items()}
        for table in (small.table(scheme) for scheme in SCHEMES)
    ]
    assert all(torch.equal(masks[0][name], other[name]) for other in masks[1:] for name in masks[0])
    params = {**next(iter(lr_sweep.smoke_grid()))}
    seeds = {
        small.Context(lr_sweep.experiment, {**params, "scheme": scheme, "log2_lr": lr}).seed(stream)
        for scheme in SCHEMES
        for lr in (-5.0, -6.0)
        for stream in ("init", "masks", "batches")
    }
    assert len(seeds) == 3


@pytest.mark.parametrize("width", [32, 64])
def test_dense_supar_trains_bit_for_bit_like_mup(width: int) -> None:
    losses = []
    for scheme in ("supar", "mup"):
        table = small.table(scheme, width=width, density=1.0)
        model = small.gpt(table, width=width)
        log = train(model, build_adamw(model, table, SETTINGS), small.batches(), SETTINGS)
        losses.append(log.losses)
    assert torch.equal(losses[0], losses[1])


def test_sparse_supar_does_not() -> None:
    # A switch that never reaches the net passes every identity.
    assert not torch.equal(_train(small.table()).losses, _train(small.table("mup")).losses)


# --- the loop ---


def test_training_lowers_the_loss() -> None:
    settings = replace(SETTINGS, num_steps=60, warmup_steps=6)
    log = _train(small.table(), settings, small.batches(60))
    assert log.final_loss < 0.7 * float(log.losses[0])
    assert log.final_loss == pytest.approx(float(log.losses[-6:].mean()))
    assert log.diverged == ""


@pytest.mark.parametrize(
    ("schedule", "last"), [("to_tenth", 0.1 + 0.9 / 90), ("to_zero", 1 / 90), ("constant", 1.0)]
)
def test_schedules(schedule: str, last: float) -> None:
    settings = replace(SETTINGS, num_steps=100, warmup_steps=10, schedule=schedule)
    factors = [lr_factor(step, settings) for step in range(100)]
    assert factors[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert factors[10] == 1.0
    assert factors[-1] == pytest.approx(last)
    steps = [a - b for a, b in itertools.pairwise(factors[10:])]
    assert steps == pytest.approx([steps[0]] * len(steps))


def test_learning_rates_of_all_groups_follow_the_schedule() -> None:
    table = small.table()
    model = small.gpt(table)
    optimizer = build_adamw(model, table, SETTINGS)
    peaks = [group["lr"] for group in optimizer.param_groups]
    train(model, optimizer, small.batches(), SETTINGS)
    expected = [peak * lr_factor(SETTINGS.num_steps - 1, SETTINGS) for peak in peaks]
    assert [group["lr"] for group in optimizer.param_groups] == expected


def test_clip_rate_counts_clipped_steps() -> None:
    assert _train(small.table(), replace(SETTINGS, clip_norm=1e-6)).clip_rate == 1.0
    assert _train(small.table(), replace(SETTINGS, clip_norm=math.inf)).clip_rate == 0.0


def test_parts_of_a_batch_add_up_to_the_batch() -> None:
    whole = _train(small.table()).losses
    parts = _train(small.table(), replace(SETTINGS, num_micro_batches=4)).losses
    # Adam turns a rounding error of a tiny gradient into a whole step, so errors grow.
    torch.testing.assert_close(whole, parts, rtol=1e-3, atol=0.0)
    torch.testing.assert_close(whole[:2], parts[:2], rtol=1e-6, atol=0.0)


def test_a_loss_that_is_not_finite_stops_the_run_and_is_named() -> None:
    table = replace(small.table(), base=replace(TABLE_3, lr=1e30))
    settings = replace(SETTINGS, num_steps=40, clip_norm=math.inf, warmup_steps=0)
    log = _train(table, settings, small.batches(40))
    assert "not finite at step" in log.diverged
    assert log.num_steps < 40


def test_too_few_batches_are_an_error() -> None:
    with pytest.raises(SpecError, match="7 batches for num_steps=12"):
        _train(small.table(), data=small.batches(7))


def test_bad_settings_are_refused() -> None:
    with pytest.raises(SpecError, match="warmup_steps=12"):
        replace(SETTINGS, warmup_steps=12)
    with pytest.raises(SpecError, match="schedule='cosine'"):
        replace(SETTINGS, schedule="cosine")


def test_evaluation_of_a_uniform_model_is_the_log_of_the_vocabulary() -> None:
    model = small.gpt(small.table())
    with torch.no_grad():
        model.tokens.weight.zero_()
    batch = next(small.batches(1))
    assert evaluate(model, batch) == pytest.approx(math.log(len(set(small.TEXT))))


# --- trials of the sweep ---


def test_a_sweep_trial_returns_one_row_of_losses() -> None:
    params = dict(next(iter(lr_sweep.smoke_grid())))
    context = small.Context(lr_sweep.experiment, params)
    outcome = lr_sweep.run(params, context)
    assert outcome.status is Status.DONE
    (row,) = outcome.rows
    assert list(row) == ["train_loss", "val_loss", "test_loss", "clip_rate"]
    assert outcome.rows == lr_sweep.run(params, context).rows


def test_a_diverged_trial_keeps_its_row_without_losses() -> None:
    params = {**next(iter(lr_sweep.smoke_grid())), "log2_lr": 60.0}
    outcome = lr_sweep.run(params, small.Context(lr_sweep.experiment, params))
    assert outcome.status is Status.DIVERGED
    assert outcome.note
    assert [outcome.rows[0][name] for name in ("train_loss", "val_loss", "test_loss")] == [None] * 3


def test_a_finite_loss_far_above_guessing_counts_as_diverged() -> None:
    losses = torch.full((10,), 9.0)
    log = TrainLog(losses=losses, num_steps=10, num_clipped=0, diverged="")
    assert "over 2 ln V" in lr_sweep.divergence(log, 65)
    assert lr_sweep.divergence(replace(log, losses=losses - 1.0), 65) == ""


@pytest.mark.parametrize("density", lr_sweep.CPU_DENSITIES)
def test_every_window_holds_the_dense_optimum_and_its_possible_rise(density: float) -> None:
    windows = {scheme: lr_sweep.lr_window(scheme, density) for scheme in lr_sweep.SCHEMES}
    assert len({len(window) for window in windows.values()}) == 1, "unequal candidates"
    rise = round(math.log2(1 / density))
    for scheme, window in windows.items():
        centre = lr_sweep.DENSE_CENTRE[scheme]
        assert len(window) >= 8
        # Two points to each side of where an optimum may lie: no argmin on an edge.
        top = centre if scheme == "supar" else centre + rise
        assert min(window) <= centre - 2
        assert max(window) >= top + 2


def test_grids_count_and_stand_on_one_lattice() -> None:
    sizes = {p: len(lr_sweep.experiment.params_of(p)) for p in PROFILES}
    assert (sizes["smoke"], sizes["cpu"]) == (18, 396)
    for profile in PROFILES:
        for point in lr_sweep.experiment.params_of(profile):
            k = float(point["log2_lr"]) - math.log2(1.62e-2)
            assert k == pytest.approx(round(k), abs=1e-12)
            assert int(point["width"]) * float(point["density"]) >= 16
            assert int(point["width"]) % int(point["head_size"]) == 0


def test_estimates_fit_the_profiles() -> None:
    for experiment in (lr_sweep.experiment, coordinate_check.experiment):
        assert experiment.estimate is not None
        total_s = {
            profile: sum(experiment.estimate(p).seconds for p in experiment.params_of(profile))
            for profile in PROFILES
        }
        assert total_s["smoke"] < 2.0
        assert total_s["cpu"] < 2 * 48 * 60


SHAPE = ("width", "num_layers", "context", "batch_size", "micro_batches", "steps", "tokenizer")


@pytest.mark.parametrize("experiment", [lr_sweep.experiment, coordinate_check.experiment])
def test_dry_runs_count_the_real_net_of_every_shape(experiment: Experiment) -> None:
    assert experiment.dry_run is not None
    for profile in PROFILES:
        points = experiment.params_of(profile)
        for shape in {tuple(point[name] for name in SHAPE): point for point in points}.values():
            report = experiment.dry_run(shape)
            assert report.num_params == report.expected_num_params, profile
            # SwiGLU at 8 D / 3 has as many weights as GELU at 4 D, within rounding.
            width, vocabulary = int(shape["width"]), 50257 if profile == "paper" else 65
            positions = int(shape["context"]) if shape["positions"] == "learned" else 0
            about = 24 * width**2 + (vocabulary + positions) * width
            assert report.num_params == pytest.approx(about, rel=0.01), profile
            assert report.memory_bytes > 16 * report.num_params
            tokens = int(shape["batch_size"]) * int(shape["context"])
            assert report.step_flops > 6 * 24 * width**2 * tokens


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_trains(scheme: Scheme) -> None:
    assert _train(small.table(scheme)).diverged == ""


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_run_has_the_masks_of_a_cpu_run_and_keeps_them() -> None:
    table = small.table()
    seeds = Seeds(init=0, masks=1000)
    model = build_gpt(small.config(table), table, seeds, device="cuda")
    log = train(model, build_adamw(model, table, SETTINGS), small.batches(), SETTINGS)
    assert log.diverged == ""
    assert max_abs_masked(model) == 0.0
    expected = masked_layers(small.gpt(table))
    for name, layer in masked_layers(model).items():
        assert torch.equal(layer.weight_mask.cpu(), expected[name].weight_mask), name
    rows = coordinate_check_of(
        model,
        build_adamw(model, table, SETTINGS),
        small.batches(3),
        {"feed_forward": [model.blocks[0].feed_forward]},
    )
    assert all(row.mean_abs_activation > 0.0 for row in rows)
