"""Word problems solved by DoLa and greedily, before and after fine-tuning; GSM8K if handed in.

`experiment` takes what `pretrain` and `continual` kept; `given` the paper's models, checkpoints
named by `--set checkpoint=FOLDER`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from statistics import fmean

from harness.declare.experiment import (
    Estimate,
    Experiment,
    Needs,
    Outcome,
    RawParams,
    Row,
    RunContext,
    Status,
    UpstreamResult,
    Use,
)
from reproductions.lisa.continual import experiment as continual
from reproductions.lisa.finetuning import experiment as finetune
from reproductions.lisa.models.scored import (
    NOT_GIVEN,
    OF_BASE,
    SEEDS,
    SMOKE_MODEL,
    Point,
    load_given,
)
from reproductions.lisa.models.shapes import shape_of

WEIGHTS = ("vanilla", "lisa")
NUM_QUESTIONS = 100
"""As many as the paper's."""
MAX_NEW_TOKENS = 256
"""On GSM8K; the default of DoLa's authors."""
TEST = "gsm8k_test"
PAPER_MODEL = "llama-2-7b"
"""Of 32 blocks, as the paper's exits say; which model it was is not known."""
CACHE_BYTES = 64 * 10**9
"""Keys, values and hidden states of 64 prompts of a thousand tokens, in bfloat16."""


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Decode with the pre-trained model, and with LISA's at its chosen learning rate."""
    lr = best_rate(params, ctx)
    if lr is None:
        return Outcome(rows=[], status=Status.DIVERGED, note="it diverged at the chosen rate")
    from reproductions.lisa.dola.trial import word_problem_rows

    trial = tuned(params, lr=lr, seed=int(params["seed"]))
    models = {
        "vanilla": finetune.base_of(params, ctx),
        "lisa": finetune.weights_of(ctx.upstream(continual.experiment, **trial), trial, ctx),
    }
    rows = word_problem_rows(models, params, seed=ctx.seed("problems test"))
    return Outcome(rows=[{**row, "lr": lr if row["weights"] == "lisa" else None} for row in rows])


def run_given(params: RawParams, ctx: RunContext) -> list[Row]:
    """Decode with models handed in, one at a time."""
    from reproductions.lisa.dola.trial import gsm8k_rows

    records = ctx.dataset(TEST).records
    rows: list[Row] = []
    for weights in WEIGHTS:
        lm = load_given({**params, "method": weights}, device=ctx.device)
        rows += gsm8k_rows({weights: lm}, params, records)
    return [{**row, "lr": None} for row in rows]


def best_rate(params: RawParams, ctx: RunContext) -> float | None:
    """Return the rate that Table 4 has too: the most validation problems solved over all seeds.

    At a tie it is the one of least validation loss. None where a run diverged at this rate.
    """
    scored = []
    for lr in continual.LRS:
        trials = [tuned(params, lr=lr, seed=seed) for seed in continual.SEEDS]
        ends = [validation(ctx.upstream(continual.experiment, **trial)) for trial in trials]
        solved, losses = zip(*ends, strict=True)
        scored.append((-fmean(solved), fmean(losses), float(trials[0]["lr"])))
    _, loss, lr = min(scored)
    return None if math.isinf(loss) else lr


def validation(upstream: UpstreamResult) -> tuple[float, float]:
    """Return the share of validation problems solved at the end, and the loss; 0 and infinite
    where the run diverged."""
    rows = [
        row for row in upstream.rows if (row["stage"], row["split"]) == ("problems", "validation")
    ]
    return (float(rows[0]["accuracy"]), float(rows[0]["loss"])) if rows else (0.0, math.inf)


def tuned(params: RawParams, *, lr: float, seed: int) -> Point:
    """Return the trial of continual pre-training at a rate and seed, which kept its weights.

    At `smoke`, which has one of each, always the same: an experiment names as many trials at every
    profile.
    """
    own = {name: value for name, value in params.items() if name != "num_questions"}
    if params["model"] == SMOKE_MODEL:
        lr, seed = finetune.FIXED_LR, continual.SEEDS[0]
    return {**own, "lr": lr, "seed": seed, "keep_weights": True}


def given_needs(params: RawParams) -> Needs:
    """Return GSM8K and a GPU for a model in bfloat16 with its cache."""
    packages = ("transformers", "tokenizers", "lm_eval")
    room = 2 * shape_of(str(params["model"])).num_params + CACHE_BYTES
    return Needs(data=(TEST,), device="cuda", gpu_bytes=room, packages=packages)


def estimate(params: RawParams) -> Estimate:
    """Return a start, and four passes over the questions."""
    per_question_s = 0.01 if params["model"] == SMOKE_MODEL else 0.2
    seconds = 4.0 + per_question_s * int(params["num_questions"])
    return Estimate(seconds=seconds, memory_bytes=2**31)


def of_continual(trials: Iterator[RawParams], num_questions: int) -> Iterator[RawParams]:
    """Yield one trial a seed of LISA's with two blocks."""
    seen = set()
    for trial in trials:
        if trial["method"] == "lisa" and trial["gamma"] == finetune.GAMMA:
            shared = {n: value for n, value in trial.items() if n not in ("lr", "keep_weights")}
            if shared["seed"] not in seen:
                seen.add(shared["seed"])
                yield {**shared, "num_questions": num_questions}


def smoke_grid() -> Iterator[RawParams]:
    """Yield two questions to the smallest model."""
    return of_continual(continual.smoke_grid(), 2)


def cpu_grid() -> Iterator[RawParams]:
    """Yield each seed of training."""
    return of_continual(continual.cpu_grid(), NUM_QUESTIONS)


def given_grid() -> Iterator[RawParams]:
    """Yield the paper's model, as checkpoints to be handed in."""
    asked: Point = {"num_questions": NUM_QUESTIONS, "max_new_tokens": MAX_NEW_TOKENS}
    for seed in SEEDS:
        yield {"model": PAPER_MODEL, "seed": seed, "checkpoint": NOT_GIVEN, **asked}


experiment = Experiment(
    id="lisa/dola",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    needs=Needs(memory_bytes=2**31, packages=("transformers", "tokenizers")),
    uses=(
        *OF_BASE,
        *(
            Use(experiment=continual.experiment, params=partial(tuned, lr=lr, seed=seed))
            for lr in continual.LRS
            for seed in continual.SEEDS
        ),
    ),
    estimate=estimate,
    address=("model", "seed"),
)
given = Experiment(
    id="lisa/dola_given",
    version=1,
    run=run_given,
    grid={"paper": given_grid},
    needs=given_needs,
    estimate=lambda params: Estimate(seconds=1800.0),
    timeout_s=4 * 3600.0,
    address=("model", "seed"),
)
