"""Continual pre-training on mathematical text, then fine-tuning on word problems: by gamma."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import (
    Estimate,
    Experiment,
    Needs,
    Outcome,
    RawParams,
    RunContext,
    Use,
)
from harness.declare.params import Scalar
from reproductions.lisa.base_model import experiment as pretrain
from reproductions.lisa.finetuning import experiment as finetune

Point = dict[str, Scalar]

GAMMAS = (1, 2, 4)
"""Of eight blocks: an eighth, a quarter and half; the paper has 2, 4, 8 and 16 of 32."""
LRS = (3e-4, 1e-3, 3e-3)
"""Of every method, in both stages. The least was added after a first run, whose best rate was the
lower of the two others for every method."""
SEEDS = (0, 1, 2)
SOLUTIONS = "gsm8k_train"
STEPS: Point = {
    "text_steps": 156, "problems_steps": 260, "batch_size": 8, "max_tokens": 64,
    "num_held_out": 200, "max_new_tokens": 48, "solutions": True,
}  # fmt: skip
"""Twelve periods of text and twenty of problems, set with pilots of full training alone in view,
the last of which solved half; with the paper's 122 steps it solved next to nothing."""
SMOKE_STEPS: Point = {
    "text_steps": 3, "problems_steps": 3, "batch_size": 2, "max_tokens": 32, "num_held_out": 2,
    "max_new_tokens": 4, "solutions": False,
}  # fmt: skip
SECONDS = {"tiny-quality": 50.0, "tiny-path": 0.3}


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Train one model in two stages by one method."""
    from reproductions.lisa.continual.trial import continual_rows

    return continual_rows(params, ctx, finetune.base_of(params, ctx))


def needs(params: RawParams) -> Needs:
    """Return the solved problems that are mixed in, where they are."""
    data = (SOLUTIONS,) if params["solutions"] else ()
    return Needs(data=data, memory_bytes=2**31, packages=("transformers", "tokenizers"))


def estimate(params: RawParams) -> Estimate:
    """Return the time of both stages and of decoding."""
    return Estimate(seconds=SECONDS[str(params["model"])], memory_bytes=2**31)


def points(
    model: str,
    gammas: tuple[int, ...],
    lrs: tuple[float, ...],
    seeds: tuple[int, ...],
    steps: Point,
) -> Iterator[Point]:
    """Yield full training and LISA at learning rates and seeds.

    LISA with two blocks keeps its weights, for those who decode with them.
    """
    methods: list[Point] = [{"method": "full", "gamma": 0, "period": 0}]
    methods += [{"method": "lisa", "gamma": g, "period": finetune.PERIOD} for g in gammas]
    for method in methods:
        for lr in lrs:
            for seed in seeds:
                keep = method["gamma"] == finetune.GAMMA
                yield {
                    "model": model, **method, "lr": lr, "seed": seed, **steps,
                    "keep_weights": keep,
                }  # fmt: skip


def smoke_grid() -> Iterator[RawParams]:
    """Yield a few steps of the smallest model, with half of its blocks and with a quarter."""
    return points("tiny-path", (1, 2), (finetune.FIXED_LR,), SEEDS[:1], SMOKE_STEPS)


def cpu_grid() -> Iterator[RawParams]:
    """Yield all methods at all rates."""
    return points("tiny-quality", GAMMAS, LRS, SEEDS, STEPS)


experiment = Experiment(
    id="lisa/continual",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    needs=needs,
    uses=(Use(experiment=pretrain.experiment, params=finetune.pretrained),),
    estimate=estimate,
    address=("model", "method", "gamma", "lr", "seed"),
)
