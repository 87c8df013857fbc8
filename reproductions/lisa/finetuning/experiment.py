"""Fine-tuning on instructions: methods, learning rates, numbers of blocks, periods, seeds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from harness.declare.experiment import (
    Estimate,
    Experiment,
    Needs,
    Outcome,
    RawParams,
    RunContext,
    UpstreamResult,
    Use,
)
from harness.declare.params import Scalar
from reproductions.lisa.base_model import experiment as pretrain

if TYPE_CHECKING:
    from reproductions.lisa.models.language_model import LanguageModel

Point = dict[str, Scalar]

LRS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
"""Of every method; the paper's five span a factor of 120 around its models' rates."""
FIXED_LR = 1e-3
"""Of ablations that the paper runs at one rate: the middle of the grid, chosen before any run."""
SEEDS = (0, 1, 2)
NUM_STEPS = 122
PERIOD = 13
"""Ten draws in 122 steps (the last one short), as in the paper."""
GAMMA = 2
PERIODS = (1, 5, 25, NUM_STEPS)
"""Beside PERIOD; the last one draws once: LISA-fix."""
STAGED = ("stories260k", "babyllama_tok105")
OURS = "tiny-quality"
IN_HOUSE = (OURS, "tiny-path")
RECORDS = "alpaca_cleaned"
NOTHING: Point = {"gamma": 0, "period": 0, "rank": 0, "layer_seed": 0}
STEPS: Point = {
    "num_steps": NUM_STEPS, "batch_size": 8, "max_tokens": 64, "evaluate_every": 13,
}  # fmt: skip
LENGTHS = {"stories260k": 96, "babyllama_tok105": 160}
"""Tokens of an example, where a token stands for fewer characters than in our vocabulary."""
SECONDS = {OURS: 18.0, "stories260k": 8.0, "babyllama_tok105": 14.0, "tiny-path": 0.3}


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Fine-tune one model by one method."""
    from reproductions.lisa.finetuning.trial import finetune_rows

    return finetune_rows(params, ctx, lm=base_of(params, ctx), records=records_of(params, ctx))


def base_of(params: RawParams, ctx: RunContext) -> LanguageModel:
    """Return the model that a trial starts from."""
    if params["model"] not in IN_HOUSE:
        from reproductions.lisa.models.stories import read_stories

        lm = read_stories(str(params["model"]), ctx.dataset)
        lm.model.float()
        return lm
    start = pretrained(params)
    return pretrain.load_pretrained(start, ctx.upstream(pretrain.experiment, **start))


def records_of(params: RawParams, ctx: RunContext) -> list[Any]:
    """Return instructions with answers; at `smoke` each sentence answers the one before it."""
    if params["model"] != "tiny-path":
        return list(ctx.dataset(RECORDS).records)
    sentences = ctx.dataset(pretrain.GRAMMAR).text[100_000:].split(". ")
    return [
        {"instruction": one, "input": "", "output": other} for one, other in pairwise(sentences)
    ]


def pretrained(params: RawParams) -> RawParams:
    """Return the parameters of the pre-training that a trial starts from."""
    return pretrain.SMOKE if params["model"] == "tiny-path" else pretrain.CPU


def weights_of(upstream: UpstreamResult, params: RawParams, ctx: RunContext) -> LanguageModel:
    """Return a fine-tuned model, in another experiment's run, from a trial that kept its weights.

    params: of that trial.
    """
    from reproductions.lisa.models.pretraining import WEIGHTS

    lm = base_of(params, ctx)
    lm.model.load_state_dict(upstream.load(WEIGHTS))
    return lm


def needs(params: RawParams) -> Needs:
    """Return the examples, and a staged model where it is one."""
    packages = ("transformers", "peft", "tokenizers")
    name = str(params["model"])
    if name == "tiny-path":
        return Needs(data=(pretrain.GRAMMAR,), memory_bytes=2**30, packages=packages)
    parts = (name, f"{name}.config", f"{name}.tokenizer") if name in STAGED else ()
    return Needs(data=(RECORDS, *parts), memory_bytes=2**31, packages=packages)


def estimate(params: RawParams) -> Estimate:
    """Return a start and the steps of a model."""
    return Estimate(seconds=SECONDS[str(params["model"])], memory_bytes=2**31)


def of_method(method: str, *, gamma: int = GAMMA, period: int = PERIOD) -> Point:
    """Return a method's parameters, without those that mean nothing to it."""
    own: dict[str, Point] = {
        "full": {},
        "lora": {"rank": 4},
        "galore": {"rank": 4},
        "cyclic": {"period": period},
        "lisa": {"gamma": gamma, "period": period},
    }
    return {**NOTHING, "method": method, **own[method]}


def points(
    model: str, method: Point, *, lrs: tuple[float, ...] = LRS, layer_seeds: tuple[int, ...] = (0,)
) -> Iterator[Point]:
    """Yield a method at learning rates and seeds."""
    length = LENGTHS.get(model, STEPS["max_tokens"])
    # Their weights are evaluated by other experiments, and Figure 11 has their held-out curves.
    whole = model == OURS and method == of_method(str(method["method"]))
    every = STEPS["evaluate_every"] if whole else NUM_STEPS
    for lr in lrs:
        for seed in SEEDS:
            for layer_seed in layer_seeds:
                yield {
                    "model": model, **method, "layer_seed": layer_seed, "lr": lr, "seed": seed,
                    **STEPS, "max_tokens": length, "evaluate_every": every,
                    "keep_weights": whole and seed == layer_seed == 0,
                }  # fmt: skip


def smoke_grid() -> Iterator[RawParams]:
    """Yield each method until just after a switch, and LISA with all blocks."""
    for method in ("full", "lora", "galore", "cyclic", "lisa"):
        yield smoke_point(of_method(method))
    yield smoke_point(of_method("lisa", gamma=4))


def smoke_point(method: Point) -> Point:
    """Return a method on the smallest model, at one rate and seed."""
    steps = {"num_steps": PERIOD + 1, "batch_size": 4, "evaluate_every": PERIOD, "max_tokens": 64}
    return {
        "model": "tiny-path", **method, "lr": FIXED_LR, "seed": 0, **steps, "keep_weights": False,
    }  # fmt: skip


def cpu_grid() -> Iterator[RawParams]:
    """Yield all methods at all rates; then what the paper ablates."""
    for method in ("full", "lora", "galore", "cyclic"):
        yield from points(OURS, of_method(method))
    yield from points(OURS, of_method("lisa"))
    # Tables 10 and 11, Figure 8; eight blocks are all of them.
    for gamma in (0, 4, 8):
        yield from points(OURS, of_method("lisa", gamma=gamma))
    # Table 7, Figure 10.
    yield from points(OURS, of_method("lisa"), lrs=(FIXED_LR,), layer_seeds=SEEDS[1:])
    # Tables 6 and 12, Figure 9.
    for period in PERIODS:
        layer_seeds = SEEDS if period == NUM_STEPS else (0,)
        method = of_method("lisa", period=period)
        yield from points(OURS, method, lrs=(FIXED_LR,), layer_seeds=layer_seeds)
    for period in (1, 5):
        yield from points(OURS, of_method("lisa", gamma=8, period=period), lrs=(FIXED_LR,))


def staged_grid() -> Iterator[RawParams]:
    """Yield Figure 6's methods on models that others trained."""
    for model in STAGED:
        for method in ("full", "lora"):
            yield from points(model, of_method(method))
        yield from points(model, of_method("lisa", gamma=1))


experiment = Experiment(
    id="lisa/finetune",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    needs=needs,
    uses=(Use(experiment=pretrain.experiment, params=pretrained),),
    estimate=estimate,
    address=("model", "method", "gamma", "period", "lr", "layer_seed", "seed"),
)
staged = Experiment(
    id="lisa/finetune_staged",
    version=1,
    run=run,
    grid={"cpu": staged_grid},
    needs=needs,
    estimate=estimate,
    address=("model", "method", "lr", "seed"),
)
