"""From the parameters of a trial under lm-eval to its rows: one per benchmark and metric."""

from __future__ import annotations

from harness.declare import Outcome, RunContext, Status
from harness.lm_eval import Documents, stay_offline
from reproductions.lisa.finetuning.experiment import load_scored
from reproductions.lisa.lm_benchmarks.experiment import DATASETS, Asked
from reproductions.lisa.models.benchmarks.lm_tasks import documents_of, made_up_documents
from reproductions.lisa.models.names import GRAMMAR, SMALLEST


def accuracy_rows(params: Asked, ctx: RunContext) -> Outcome:
    """Score a model; where it was tuned, at its best learning rate."""
    found = load_scored(params, ctx)
    if found is None:
        return Outcome(rows=[], status=Status.DIVERGED, note="it diverged at every learning rate")
    lm, lr = found
    stay_offline()
    # It imports lm-eval.
    from reproductions.lisa.models.benchmarks.evaluation import benchmark_rows

    rows = benchmark_rows(lm, documents_for(params, ctx))
    return Outcome(rows=[{"lr": lr, **row} for row in rows])


def documents_for(params: Asked, ctx: RunContext) -> dict[str, Documents]:
    """Return the documents of every benchmark; made-up ones for the smallest model."""
    if params.model == SMALLEST:
        made = made_up_documents(ctx.dataset(GRAMMAR).text, params.max_documents)
        return {name: made[name] for name in DATASETS}
    return {
        name: documents_of(name, ctx.dataset(source).records, most=params.max_documents)
        for name, source in DATASETS.items()
    }
