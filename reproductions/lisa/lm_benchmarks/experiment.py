"""Accuracy on five benchmarks by lm-eval: of the in-house model untuned and tuned, and of models
handed in.

`experiment` scores what `finetune` kept, each method at its best learning rate; `base` scores what
`pretrain` kept. `given` and `given_70b` score the paper's models, checkpoints named by
`--set checkpoint=FOLDER`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from reproductions.lisa.models.language_model import LanguageModel

SMOKE_DOCUMENTS, CPU_DOCUMENTS, ALL = 6, 200, 0
"""Of each benchmark, the first in the order of their hash."""
PACKAGES = ("lm_eval", "transformers", "tokenizers", "peft")


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Score a method at its best learning rate; a row a benchmark and metric."""
    lr = best_rate(params, ctx)
    if lr is None:
        return Outcome(rows=[], status=Status.DIVERGED, note="it diverged at every learning rate")
    return Outcome(rows=_rows(load_tuned(params, ctx, lr=lr), params, ctx, lr=lr))


def run_base(params: RawParams, ctx: RunContext) -> list[Row]:
    """Score the untuned model."""
    return _rows(finetune.base_of(params, ctx), params, ctx, lr=None)


def run_given(params: RawParams, ctx: RunContext) -> list[Row]:
    """Score a model handed in."""
    return _rows(load_given(params, device=ctx.device), params, ctx, lr=None)


def _rows(lm: LanguageModel, params: RawParams, ctx: RunContext, *, lr: float | None) -> list[Row]:
    from harness.lm_eval import Documents, stay_offline
    from reproductions.lisa.lm_benchmarks.lm_tasks import DATASETS, documents_of, made_up_documents

    stay_offline()
    from reproductions.lisa.lm_benchmarks.trial import benchmark_rows

    most = int(params["max_documents"])
    documents: dict[str, Documents]
    if params["model"] == SMOKE_MODEL:
        documents = made_up_documents(ctx.dataset(pretrain.GRAMMAR).text, most)
    else:
        documents = {
            name: documents_of(name, ctx.dataset(source).records, most=most)
            for name, source in DATASETS.items()
        }
    return [{"lr": lr, **row} for row in benchmark_rows(lm, documents)]


def needs(params: RawParams) -> Needs:
    """Return the benchmarks, lm-eval, and for a model of the paper a GPU."""
    from reproductions.lisa.lm_benchmarks.lm_tasks import DATASETS

    if params["model"] == SMOKE_MODEL:
        return Needs(data=(pretrain.GRAMMAR,), memory_bytes=2**30, packages=PACKAGES)
    data = tuple(DATASETS.values())
    if params["model"] == finetune.OURS:
        return Needs(data=data, memory_bytes=2**31, packages=PACKAGES)
    # Weights in bfloat16, and a tenth for what a pass holds.
    room = int(2.2 * shape_of(str(params["model"])).num_params)
    return Needs(data=data, device="cuda", gpu_bytes=room, packages=PACKAGES)


def estimate(params: RawParams) -> Estimate:
    """Return a start and the passes over all documents."""
    if params["model"] not in finetune.IN_HOUSE:
        return Estimate(seconds=1800.0)
    per_document_s = 0.35 if params["model"] == finetune.OURS else 0.05
    seconds = 2.0 + per_document_s * int(params["max_documents"])
    return Estimate(seconds=seconds, memory_bytes=2**31)


def in_house_grid(model: str, methods: tuple[str, ...], most: int) -> Iterator[RawParams]:
    """Yield a model of ours by methods; the seed is one whose weights are kept."""
    for method in methods:
        yield {"model": model, "method": method, "seed": 0, "max_documents": most}


def given_grid(models: tuple[str, ...]) -> Iterator[RawParams]:
    """Yield models of the paper, as checkpoints to be handed in; all documents."""
    for model in models:
        for method in (VANILLA, *METHODS):
            for seed in SEEDS:
                point: Point = {"model": model, "method": method, "seed": seed}
                yield {**point, "checkpoint": NOT_GIVEN, "max_documents": ALL}


ADDRESS = ("model", "method", "seed")
experiment = Experiment(
    id="lisa/evaluate",
    version=1,
    run=run,
    grid={
        "smoke": partial(in_house_grid, SMOKE_MODEL, ("lisa",), SMOKE_DOCUMENTS),
        "cpu": partial(in_house_grid, finetune.OURS, METHODS, CPU_DOCUMENTS),
    },
    needs=needs,
    uses=OF_TUNED,
    estimate=estimate,
    address=ADDRESS,
)
base = Experiment(
    id="lisa/evaluate_base",
    version=1,
    run=run_base,
    grid={
        "smoke": partial(in_house_grid, SMOKE_MODEL, (VANILLA,), SMOKE_DOCUMENTS),
        "cpu": partial(in_house_grid, finetune.OURS, (VANILLA,), CPU_DOCUMENTS),
    },
    needs=needs,
    uses=OF_BASE,
    estimate=estimate,
    address=ADDRESS,
)
given, given_70b = (
    Experiment(
        id=f"lisa/evaluate_{word}",
        version=1,
        run=run_given,
        grid={"paper": partial(given_grid, models)},
        needs=needs,
        estimate=estimate,
        timeout_s=4 * 3600.0,
        address=ADDRESS,
    )
    for word, models in (("given", THREE), ("given_70b", (LARGEST,)))
)
