"""The coordinate check of Figure 5: activations over density in the first ten steps.

Base hyperparameters are those of Figure 5's row in Table 4. Masks are Bernoulli, as in the
authors' code, whose plot is the only published one with readable values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.task import DryRun, Estimate, Experiment, Params, Row, RunContext, Scalar
from reproductions.supar.base import FIGURE_5
from reproductions.supar.costs import estimate_of, gpt_shape, needs_of, paper_net
from reproductions.supar.experiments.lr_sweep import CPU_DENSITIES, SCHEMES

if TYPE_CHECKING:
    from reproductions.supar.training import Settings


def run(params: Params, ctx: RunContext) -> list[Row]:
    """Train ten steps; one row a step and kind of block."""
    from reproductions.supar.activations import coordinate_check, gpt_kinds
    from reproductions.supar.gpt_trial import corpus_of, gpt_config, parameterization_of
    from reproductions.supar.text import training_batches
    from reproductions.supar.training import Seeds, build_adamw, build_gpt, generator_of

    corpus = corpus_of(params, ctx)
    table = parameterization_of(params, FIGURE_5, lr=FIGURE_5.lr)
    config = gpt_config(params, table, corpus.vocab_size)
    seeds = Seeds(init=ctx.seed("init"), masks=ctx.seed("masks"))
    model = build_gpt(config, table, seeds, device=ctx.device, pattern="bernoulli")
    settings = settings_of(params)
    batches = training_batches(
        corpus.train_N,
        context=config.context,
        batch_size=int(params["batch_size"]),
        num_batches=settings.num_steps,
        generator=generator_of(ctx.seed("batches")),
    )
    optimizer = build_adamw(model, table, settings)
    return [asdict(row) for row in coordinate_check(model, optimizer, batches, gpt_kinds(model))]


def settings_of(params: Params) -> Settings:
    """Return the training settings: a constant learning rate, no clipping, no weight decay."""
    from reproductions.supar.training import Settings

    return Settings(
        num_steps=int(params["steps"]),
        warmup_steps=0,
        schedule="constant",
        betas=(0.9, 0.95),
        eps=1e-8,
        weight_decay=0.0,
        decay="coupled",
        clip_norm=float("inf"),
        num_micro_batches=int(params["micro_batches"]),
    )


def smoke_grid() -> Iterator[Params]:
    """Yield two densities of a narrow net: the path, not a result."""
    shape = _shape(data="grammar-text", width=64, base_width=32, context=32)
    yield from _grid((1.0, 1 / 4), 1, shape)


def cpu_grid() -> Iterator[Params]:
    """Yield the check at width 768, the widest that takes under ten core-minutes."""
    shape = _shape(data="tinyshakespeare", width=768, base_width=256, context=64)
    yield from _grid(CPU_DENSITIES, 10, shape)


def gpu_grid() -> Iterator[Params]:
    """Yield the paper's shape on characters at the authors' context of 1024."""
    shape = _shape(data="tinyshakespeare", width=2048, base_width=256, context=1024)
    yield from _grid(CPU_DENSITIES, 10, shape)


def paper_grid() -> Iterator[Params]:
    """Yield the paper's own check (Table 4): 82k tokens a trial."""
    shape = _shape(data="slimpajama", width=2048, base_width=256, context=2048)
    yield from _grid(CPU_DENSITIES, 10, {**shape, **paper_net()})


def estimate(params: Params) -> Estimate:
    """Return what a trial costs: each update is followed by a second forward pass."""
    return estimate_of(params, num_passes=4.0)


def dry_run(params: Params) -> DryRun:
    """Build and count the trial's net without computing it."""
    from reproductions.supar.gpt_trial import dry_run as dry_run_gpt
    from reproductions.supar.gpt_trial import parameterization_of

    table = parameterization_of(params, FIGURE_5, lr=FIGURE_5.lr)
    return dry_run_gpt(params, table, settings_of(params))


def _shape(*, data: str, width: int, base_width: int, context: int) -> dict[str, Scalar]:
    return gpt_shape(
        data=data,
        width=width,
        base_width=base_width,
        context=context,
        batch_size=4,
        micro_batches=1,
        steps=10,
    )


def _grid(
    densities: tuple[float, ...], num_seeds: int, shape: dict[str, Scalar]
) -> Iterator[Params]:
    for seed in range(num_seeds):
        for scheme in SCHEMES:
            for density in densities:
                yield {"scheme": scheme, "density": density, "seed": seed, **shape}


experiment = Experiment(
    id="supar/coordinate_check",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    seed_from=("seed",),
    needs=needs_of,
    estimate=estimate,
    dry_run=dry_run,
)
