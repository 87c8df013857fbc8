"""From the parameters of a trial under lm-eval to its rows: one per benchmark and metric."""

from __future__ import annotations

from harness.declare import Outcome, RunContext, Status
from harness.lm_eval import stay_offline
from reproductions.lisa.finetuning.experiment import load_scored
from reproductions.lisa.lm_benchmarks.experiment import DATASETS, Asked
from reproductions.lisa.models.benchmarks.lm_tasks import documents_for
from reproductions.lisa.models.names import SMALLEST


def accuracy_rows(params: Asked, ctx: RunContext) -> Outcome:
    """Score a model; where it was tuned, at its best learning rate."""
    found = load_scored(params, ctx)
    if found is None:
        return Outcome(rows=[], status=Status.DIVERGED, note="it diverged at every learning rate")
    lm, lr = found
    stay_offline()
    # It imports lm-eval.
    from reproductions.lisa.models.benchmarks.evaluation import benchmark_rows

    small = params.model == SMALLEST
    documents = documents_for(DATASETS, ctx, most=params.max_documents, made_up=small)
    return Outcome(rows=[{"lr": lr, **row} for row in benchmark_rows(lm, documents)])
