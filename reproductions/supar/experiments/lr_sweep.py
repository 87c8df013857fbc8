"""Learning-rate sweeps over sparsity: Figures 1, 6, 8 and 14 (Table 4, first row).

At `smoke`, `cpu` and `gpu` the net is the authors' published one (learned positions, GELU,
characters); `paper` has the paper's (ALiBi, SwiGLU, byte pairs). Weight decay is 0 everywhere:
the paper does not say its own, and decay coupled to the learning rate would move optima.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from harness.task import (
    DryRun,
    Estimate,
    Experiment,
    Outcome,
    Params,
    RunContext,
    Scalar,
    Status,
)
from reproductions.supar.base import TABLE_3
from reproductions.supar.costs import estimate_of, gpt_shape, needs_of, paper_net
from reproductions.supar.parameterization import Scheme

if TYPE_CHECKING:
    from reproductions.supar.training import Settings, TrainLog

ETA_LOG2 = math.log2(TABLE_3.lr)
"""Every sweep stands on the lattice ETA_LOG2 + k, k whole, as the paper's do."""
SCHEMES: tuple[Scheme, ...] = ("sp", "mup", "supar")
DENSE_CENTRE: dict[Scheme, int] = {"sp": -4, "mup": 0, "supar": 0}
"""k of the best dense learning rate. From a pilot of the cpu setting on dense nets alone, at seed
1000, which no sweep uses: SP had 2.445, 2.441, 2.469 at k = -3, -4, -5, and muP, which SmuPar
is when dense, 2.437, 2.415, 2.444 at k = -1, 0, 1. No sparse net was trained before this."""
CPU_DENSITIES = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)
EVAL_WINDOWS = 64


def run(params: Params, ctx: RunContext) -> Outcome:
    """Train one net; one row with its losses, which are None where it diverged."""
    from reproductions.supar.gpt_trial import corpus_of, gpt_config, parameterization_of
    from reproductions.supar.text import held_out_batch, training_batches
    from reproductions.supar.training import (
        Seeds,
        build_adamw,
        build_gpt,
        evaluate,
        generator_of,
        train,
    )

    corpus = corpus_of(params, ctx)
    table = parameterization_of(params, TABLE_3, lr=2.0 ** float(params["log2_lr"]))
    config = gpt_config(params, table, corpus.vocab_size)
    seeds = Seeds(init=ctx.seed("init"), masks=ctx.seed("masks"))
    model = build_gpt(config, table, seeds, device=ctx.device)
    settings = settings_of(params)
    batches = training_batches(
        corpus.train_N,
        context=config.context,
        batch_size=int(params["batch_size"]),
        num_batches=settings.num_steps,
        generator=generator_of(ctx.seed("batches")),
    )
    optimizer = build_adamw(model, table, settings)
    log = train(model, optimizer, batches, settings, checkpoint=ctx.checkpoint_path())
    if note := divergence(log, corpus.vocab_size):
        row = {"train_loss": None, "val_loss": None, "test_loss": None}
        return Outcome(
            rows=[{**row, "clip_rate": log.clip_rate}], status=Status.DIVERGED, note=note
        )
    held_out = [
        evaluate(model, held_out_batch(part, context=config.context, num_windows=EVAL_WINDOWS))
        for part in (corpus.validation_N, corpus.test_N)
    ]
    losses = {"train_loss": log.final_loss, "val_loss": held_out[0], "test_loss": held_out[1]}
    return Outcome(rows=[{**losses, "clip_rate": log.clip_rate}])


def divergence(log: TrainLog, vocab_size: int) -> str:
    """Say how a run diverged: a loss not finite, or at last twice that of guessing, 2 ln V."""
    if log.diverged:
        return log.diverged
    bound = 2.0 * math.log(vocab_size)
    if log.final_loss > bound:
        return f"the last losses average {log.final_loss:.3g}, over 2 ln V = {bound:.3g}"
    return ""


def settings_of(params: Params) -> Settings:
    """Return the training settings: AdamW and clipping as the authors' code, no weight decay."""
    from reproductions.supar.training import Settings

    steps = int(params["steps"])
    return Settings(
        num_steps=steps,
        warmup_steps=steps // 10,
        schedule="to_tenth",
        betas=(0.9, 0.95),
        eps=1e-8,
        weight_decay=0.0,
        decay="coupled",
        clip_norm=1.0,
        num_micro_batches=int(params["micro_batches"]),
    )


def lr_window(scheme: Scheme, density: float) -> list[int]:
    """Return the swept learning rates of a scheme and density as k on the lattice.

    Every scheme tries equally many at one density: 8 dense, 10 at density 1/16. Theory lets the
    optimum of SP and muP rise by up to h = log2(1 / density), so their window's upper end rises
    by h, and its lower end by half of that, which keeps the dense optimum inside. That of SmuPar
    should not move, so its window grows on both sides. The centre is the dense optimum of a pilot
    on dense nets alone, at a seed that no sweep uses; no sparse result was looked at.

    >>> lr_window("supar", 1.0)
    [-4, -3, -2, -1, 0, 1, 2, 3]
    >>> [len(lr_window(scheme, 1 / 16)) for scheme in ("sp", "mup", "supar")]
    [10, 10, 10]
    """
    halvings = math.ceil(-math.log2(density))
    centre = DENSE_CENTRE[scheme]
    low, high = centre - 4 + math.ceil(halvings / 2), centre + 4 + halvings
    if scheme == "supar":
        extra = high - low - 8
        low, high = centre - 4 - extra // 2, centre + 4 + math.ceil(extra / 2)
    return list(range(low, high))


def smoke_grid() -> Iterator[Params]:
    """Yield three learning rates at two densities: the path, not a result."""
    shape = gpt_shape(
        data="grammar-text",
        width=64,
        base_width=32,
        context=32,
        batch_size=8,
        micro_batches=1,
        steps=20,
    )
    for scheme in SCHEMES:
        for density in (1.0, 1 / 4):
            for k in (-1, 0, 1):
                yield _point(scheme, density, DENSE_CENTRE[scheme] + k, 0, shape)


def cpu_grid() -> Iterator[Params]:
    """Yield the sweep of a net of width 256 on tiny Shakespeare."""
    shape = gpt_shape(
        data="tinyshakespeare",
        width=256,
        base_width=64,
        context=64,
        batch_size=8,
        micro_batches=1,
        steps=200,
    )
    yield from _sweep(CPU_DENSITIES, shape)


def gpu_grid() -> Iterator[Params]:
    """Yield the sweep of a net of width 1024 down to density 1/64, sized for one H200."""
    shape = gpt_shape(
        data="tinyshakespeare",
        width=1024,
        base_width=128,
        context=128,
        batch_size=8,
        micro_batches=1,
        steps=150,
    )
    yield from _sweep((1.0, 1 / 8, 1 / 64), shape)


def paper_grid() -> Iterator[Params]:
    """Yield the paper's own sweep (Table 4): 306M tokens a trial."""
    shape = gpt_shape(
        data="slimpajama",
        width=4096,
        base_width=256,
        context=2048,
        batch_size=128,
        micro_batches=16,
        steps=1169,
    )
    yield from _sweep(
        tuple(2.0**-halvings for halvings in range(7)),
        {**shape, **paper_net(), "head_size": 64},
    )


def estimate(params: Params) -> Estimate:
    """Return what a trial costs."""
    return estimate_of(params, num_passes=3.0)


def dry_run(params: Params) -> DryRun:
    """Build and count the trial's net without computing it."""
    from reproductions.supar.gpt_trial import dry_run as dry_run_gpt
    from reproductions.supar.gpt_trial import parameterization_of

    table = parameterization_of(params, TABLE_3, lr=2.0 ** float(params["log2_lr"]))
    return dry_run_gpt(params, table, settings_of(params))


def _sweep(densities: Sequence[float], shape: dict[str, Scalar]) -> Iterator[Params]:
    # Seeds outermost: an interrupted sweep leaves whole curves behind.
    for seed in range(3):
        for scheme in SCHEMES:
            for density in densities:
                for k in lr_window(scheme, density):
                    yield _point(scheme, density, k, seed, shape)


def _point(
    scheme: Scheme, density: float, k: int, seed: int, shape: dict[str, Scalar]
) -> dict[str, Scalar]:
    swept = {"scheme": scheme, "density": density, "log2_lr": ETA_LOG2 + k, "seed": seed}
    return {**swept, **shape}


experiment = Experiment(
    id="supar/lr_sweep",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    seed_from=("seed",),
    needs=needs_of,
    estimate=estimate,
    dry_run=dry_run,
    timeout_s=24 * 3600.0,
    address=("scheme", "density", "log2_lr", "seed"),
)
