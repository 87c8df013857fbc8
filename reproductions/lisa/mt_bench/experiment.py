"""MT-Bench: answers of models before and after fine-tuning, graded by a judge.

`untuned` and `experiment` ask the in-house model; `given` and `given_70b` the paper's models, as
checkpoints named by `--set checkpoint=FOLDER`. Without a judge none of these is run. At `smoke` a
few made-up questions are answered, and nobody grades the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from harness.declare.experiment import (
    Estimate,
    Experiment,
    Needs,
    Outcome,
    RawParams,
    Row,
    RunContext,
    Status,
)
from reproductions.lisa.base_model import experiment as pretrain
from reproductions.lisa.finetuning import experiment as finetune
from reproductions.lisa.models.scored import (
    LARGEST,
    METHODS,
    NOT_GIVEN,
    OF_BASE,
    OF_TUNED,
    SEEDS,
    SMOKE_MODEL,
    THREE,
    VANILLA,
    Point,
    best_rate,
    load_given,
    load_tuned,
)
from reproductions.lisa.models.shapes import shape_of

QUESTIONS, REFERENCES = "mt_bench_questions", "mt_bench_gpt4_reference"
MT_BENCH: Point = {"questions": "mt_bench", "judged": True}
MADE_UP: Point = {"questions": "made_up", "judged": False, "max_new_tokens": 8}
IN_HOUSE_TOKENS, GIVEN_TOKENS = 64, 1024
"""Of an answer at most: half of the in-house model's context; as in FastChat."""
NUM_JUDGEMENTS = 160
SECONDS_A_JUDGEMENT = 5.0
"""A guess: it is the judge's time, not this machine's."""


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Let a fine-tuned model answer, of its best rate; one row a question and turn."""
    from reproductions.lisa.mt_bench.trial import mt_bench_rows

    lr = best_rate(params, ctx)
    if lr is None:
        return Outcome(rows=[], status=Status.DIVERGED, note="all its learning rates diverged")
    lm = load_tuned(params, ctx, lr=lr)
    return Outcome(rows=mt_bench_rows(params, ctx, lm=lm, lr=lr))


def run_untuned(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    """Let the pre-trained model answer."""
    from reproductions.lisa.mt_bench.trial import mt_bench_rows

    return mt_bench_rows(params, ctx, lm=finetune.base_of(params, ctx), lr=None)


def run_given(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    """Let a model answer that was handed in."""
    from reproductions.lisa.mt_bench.trial import mt_bench_rows

    return mt_bench_rows(params, ctx, lm=load_given(params, device=ctx.device), lr=None)


def seeds_kept() -> list[int]:
    """Return the training seeds whose weights `finetune` keeps; they are the same of each method.

    More of them are graded as soon as more are kept.
    """
    found = finetune.points(finetune.OURS, finetune.of_method("full"), lrs=finetune.LRS[:1])
    return [int(point["seed"]) for point in found if point["keep_weights"]]


def needs(params: RawParams) -> Needs:
    """Return the model's data; of MT-Bench its questions and a judge; a GPU for a model given."""
    model, judged = str(params["model"]), bool(params["judged"])
    packages = ("transformers", "peft", "tokenizers", "requests")
    if model == SMOKE_MODEL:
        return Needs(data=(pretrain.GRAMMAR,), memory_bytes=2**30, packages=packages, judge=judged)
    data = (QUESTIONS, REFERENCES)
    if model == finetune.OURS:
        return Needs(data=data, memory_bytes=2**31, packages=packages, judge=judged)
    # Weights in bfloat16, and a tenth for what a pass holds.
    room = int(2.2 * shape_of(model).num_params)
    return Needs(data=data, device="cuda", gpu_bytes=room, packages=packages, judge=judged)


def estimate(params: RawParams) -> Estimate:
    """Return a start, the answers, and the judge's time."""
    judge = NUM_JUDGEMENTS * SECONDS_A_JUDGEMENT if params["judged"] else 0.0
    answers = {SMOKE_MODEL: 0.3, finetune.OURS: 60.0}.get(str(params["model"]), 3600.0)
    return Estimate(seconds=1.0 + answers + judge, memory_bytes=2**31)


def smoke_grid(methods: tuple[str, ...]) -> Iterator[RawParams]:
    """Yield the smallest model, with made-up questions and no judge."""
    for method in methods:
        yield {"model": SMOKE_MODEL, "method": method, "seed": 0, **MADE_UP}


def cpu_grid(methods: tuple[str, ...]) -> Iterator[RawParams]:
    """Yield the in-house model, with MT-Bench's questions and a judge."""
    for method in methods:
        for seed in seeds_kept():
            point: Point = {"model": finetune.OURS, "method": method, "seed": seed}
            yield {**point, **MT_BENCH, "max_new_tokens": IN_HOUSE_TOKENS}


def given_grid(models: tuple[str, ...]) -> Iterator[RawParams]:
    """Yield models of the paper, as checkpoints to be handed in, with a judge."""
    for model in models:
        for method in (VANILLA, *METHODS):
            for seed in SEEDS:
                point: Point = {"model": model, "method": method, "seed": seed}
                more: Point = {"max_new_tokens": GIVEN_TOKENS, "checkpoint": NOT_GIVEN}
                yield {**point, **MT_BENCH, **more}


TIMEOUT_S = 6 * 3600.0
ADDRESS = ("model", "method", "seed")
untuned = Experiment(
    id="lisa/mt_bench_untuned",
    version=1,
    run=run_untuned,
    grid={"smoke": partial(smoke_grid, (VANILLA,)), "cpu": partial(cpu_grid, (VANILLA,))},
    needs=needs,
    uses=OF_BASE,
    estimate=estimate,
    timeout_s=TIMEOUT_S,
    address=ADDRESS,
)
experiment = Experiment(
    id="lisa/mt_bench",
    version=1,
    run=run,
    grid={"smoke": partial(smoke_grid, ("lisa",)), "cpu": partial(cpu_grid, METHODS)},
    needs=needs,
    uses=OF_TUNED,
    estimate=estimate,
    timeout_s=TIMEOUT_S,
    address=ADDRESS,
)
given, given_70b = (
    Experiment(
        id=f"lisa/mt_bench_{word}",
        version=1,
        run=run_given,
        grid={"paper": partial(given_grid, models)},
        needs=needs,
        estimate=estimate,
        timeout_s=TIMEOUT_S,
        address=ADDRESS,
    )
    for word, models in (("given", THREE), ("given_70b", (LARGEST,)))
)
