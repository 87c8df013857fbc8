"""Fine-tuning on instructions: methods, learning rates, numbers of blocks, periods, seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Any

from harness.declare import Estimate, Experiment, Needs, Profile, RunContext, Use, doc
from harness.declare.experiment import UpstreamResult
from reproductions.lisa.base_model.experiment import BOOKS, USES_BASE, base_of
from reproductions.lisa.memory.experiment import Policy
from reproductions.lisa.models import stand_ins
from reproductions.lisa.models.names import GRAMMAR, IN_HOUSE, QUALITY, SMALLEST, STAGED, HowTuned
from reproductions.lisa.models.scored import VANILLA, load_given
from reproductions.lisa.models.tuning import RECORDS, Tuning

if TYPE_CHECKING:
    from reproductions.lisa.models.language_model import LanguageModel

LRS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
"""The same for every method; the paper's five span a factor of 120 around its models' rates."""
FIXED_LR = 1e-3
"""Rate of ablations that the paper runs at one rate: the middle of the grid, chosen before any
run."""
SEEDS = (0, 1, 2)
NUM_STEPS = 122
PERIOD = 13
"""Ten draws in 122 steps (the last one short), as in the paper."""
WINDOW = PERIOD
"""Steps that a smoothed training loss is the mean of."""
GAMMA = 2
PERIODS = (1, 5, 25, NUM_STEPS)
"""Beside PERIOD; the last one draws once: LISA-fix."""
LENGTHS = {"stories260k": 96, "babyllama_tok105": 160}
"""Tokens of an example, where a token stands for fewer characters than in our vocabulary."""
SECONDS = {QUALITY: 40.0, "stories260k": 18.0, "babyllama_tok105": 31.0, SMALLEST: 0.4}
BASELINES: tuple[HowTuned, ...] = ("full", "lora", "galore", "cyclic")


class Tune(Tuning):
    """Fine-tuning of a model by a method."""

    method: HowTuned = doc("full, lora, galore, cyclic or lisa.")
    gamma: int = doc("Blocks trained at once by LISA; else 0.", default=0)
    period: int = doc(
        "Optimizer steps from draw to draw of blocks, K; 0 where none are drawn.", default=0
    )
    rank: int = doc("Rank of LoRA or GaLore; 0 without.", default=0)
    layer_seed: int = doc("Seed of the draws of blocks.", default=0)
    evaluate_every: int = doc("Steps between two evaluations on held-out examples.")
    keep_weights: bool = doc("Whether the weights are an artifact.", default=False)
    policy: Policy = doc(
        "What happens to the moments of blocks that LISA freezes again: dropped, kept, or dropped"
        " with all others.",
        default="drop_refrozen",
        added=True,
    )
    text: str = doc("What the in-house model was pre-trained on.", default=BOOKS, added=True)


def tuned(
    model: str,
    method: HowTuned,
    *,
    gamma: int = GAMMA,
    period: int = PERIOD,
    lr: float = FIXED_LR,
    seed: int = 0,
    layer_seed: int = 0,
) -> Tune:
    """Return the fine-tuning of a model by a method, without numbers that mean nothing to it."""
    # Their weights are evaluated by other experiments, and Figure 11 has their held-out curves.
    whole = model == QUALITY and (gamma, period) == (GAMMA, PERIOD)
    point = Tune(
        model=model,
        method=method,
        rank=4 if method in ("lora", "galore") else 0,
        gamma=gamma if method == "lisa" else 0,
        period=period if method in ("cyclic", "lisa") else 0,
        layer_seed=layer_seed,
        lr=lr,
        seed=seed,
        num_steps=NUM_STEPS,
        batch_size=8,
        max_tokens=LENGTHS.get(model, 64),
        evaluate_every=PERIOD if whole else NUM_STEPS,
        keep_weights=whole and seed == layer_seed == 0,
    )
    if model == SMALLEST:
        # Until just after a switch.
        return replace(point, num_steps=PERIOD + 1, batch_size=4, evaluate_every=PERIOD)
    return point


def points(
    model: str,
    method: HowTuned,
    *,
    lrs: tuple[float, ...] = LRS,
    layer_seeds: tuple[int, ...] = (0,),
    **told: int,
) -> Iterator[Tune]:
    """Yield a method at learning rates and seeds; told: as of `tuned`."""
    for lr, seed, layer_seed in product(lrs, SEEDS, layer_seeds):
        yield tuned(model, method, lr=lr, seed=seed, layer_seed=layer_seed, **told)


def grid(profile: Profile) -> Iterator[Tune]:
    """Yield all methods at all rates; then what the paper ablates."""
    match profile:
        case "smoke":
            for method in (*BASELINES, "lisa"):
                yield tuned(SMALLEST, method)
            yield tuned(SMALLEST, "lisa", gamma=4)
        case "cpu":
            ours = partial(points, QUALITY)
            for method in (*BASELINES, "lisa"):
                yield from ours(method)
            # Tables 10 and 11, Figure 8; eight blocks are all of them.
            for gamma in (0, 4, 8):
                yield from ours("lisa", gamma=gamma)
            # Table 7, Figure 10.
            yield from ours("lisa", lrs=(FIXED_LR,), layer_seeds=SEEDS[1:])
            # Tables 6 and 12, Figure 9.
            for period in PERIODS:
                layer_seeds = SEEDS if period == NUM_STEPS else (0,)
                yield from ours("lisa", period=period, lrs=(FIXED_LR,), layer_seeds=layer_seeds)
            for period in (1, 5):
                yield from ours("lisa", gamma=8, period=period, lrs=(FIXED_LR,))


def staged_grid(profile: Profile) -> Iterator[Tune]:
    """Yield Figure 6's methods on models that others trained."""
    if profile == "cpu":
        for model in STAGED:
            for method in BASELINES[:2]:
                yield from points(model, method)
            yield from points(model, "lisa", gamma=1)


def needs(params: Tuning) -> Needs:
    """Return the examples, and a staged model where it is one."""
    packages = ("transformers", "peft", "tokenizers")
    name = params.model
    if name == SMALLEST:
        return Needs(data=(GRAMMAR,), memory_bytes=2**30, packages=packages)
    parts = (name, f"{name}.config", f"{name}.tokenizer") if name in STAGED else ()
    return Needs(data=(RECORDS, *parts), memory_bytes=2**31, packages=packages)


tunes = partial(
    Experiment,
    version=1,
    params=Tune,
    run="trial:finetune_rows",
    needs=needs,
    # A start and the steps of a model.
    estimate=lambda params: Estimate(seconds=SECONDS[params.model], memory_bytes=2**31),
    stands_in=stand_ins.tuned,
    package=__package__,
)
"""What makes an experiment on fine-tunings."""
runs = tunes(
    "lisa/finetune",
    grid=grid,
    uses=USES_BASE,
    address=("model", "method", "gamma", "period", "lr", "layer_seed", "seed"),
)
staged = tunes("lisa/finetune_staged", grid=staged_grid, address=("model", "method", "lr", "seed"))


def kept(params: Any, *, lr: float, seed: int) -> Tune:
    """Return the fine-tuning of a method at a rate and seed, for experiments that score it.

    params: with `model` and `method`. At `smoke`, which has one rate and seed, always the same:
    an experiment names as many of them at every profile.
    """
    if params.model == SMALLEST:
        return replace(tuned(SMALLEST, params.method), keep_weights=True)
    return tuned(QUALITY, params.method, lr=lr, seed=seed)


USES_TUNED = (
    *USES_BASE,
    *(Use(experiment=runs, params=partial(kept, lr=lr, seed=s)) for lr in LRS for s in SEEDS),
)
"""What an experiment uses that scores `load_best`."""


def load_best(params: Any, ctx: RunContext) -> tuple[LanguageModel, float] | None:
    """Return what a method came to, and the learning rate of the least mean validation loss.

    None where a run diverged at every rate. params: with `model`, `method` and `seed`.
    """
    means = {}
    for lr in LRS:
        trials = [kept(params, lr=lr, seed=seed) for seed in SEEDS]
        means[trials[0].lr] = fmean(validation_loss(ctx.upstream(runs, one)) for one in trials)
    best = min(means, key=lambda lr: means[lr])
    if math.isinf(means[best]):
        return None
    from reproductions.lisa.models.pretraining import WEIGHTS

    lm = base_of(params.model, ctx)
    upstream = ctx.upstream(runs, kept(params, lr=best, seed=params.seed))
    lm.model.load_state_dict(upstream.load(WEIGHTS))
    return lm, best


def validation_loss(upstream: UpstreamResult) -> float:
    """Return the loss that learning rates are chosen by; infinite where the run diverged."""
    losses = [row["loss"] for row in upstream.rows if row["split"] == "validation"]
    return float(losses[0]) if losses and losses[0] is not None else math.inf


def load_scored(params: Any, ctx: RunContext) -> tuple[LanguageModel, float | None] | None:
    """Return the model that a trial scores, and the learning rate chosen for it where it was tuned.

    None where tuning diverged at every rate. params: `Scored`, of models handed in with
    `checkpoint`.
    """
    if params.model not in IN_HOUSE:
        name = f"{params.model}-{params.method}-{params.seed}"
        return load_given(name, params.checkpoint, device=ctx.device), None
    if params.method == VANILLA:
        return base_of(params.model, ctx), None
    return load_best(params, ctx)
