"""Learning weights of tokens, and what models know that read a stream with them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from harness.declare import Row, RunContext
from reproductions.fg2u.adaptation.experiment import Weighing, estimator
from reproductions.fg2u.method.descent import Phase, descend
from reproductions.fg2u.models.adaptation import (
    Base,
    Phi,
    adaptation,
    episodes,
    separation,
)
from reproductions.fg2u.models.documents import Corpus
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.stream import reading


def learn(
    params: Weighing, ctx: RunContext, phi: Phi, corpus: Corpus, *, base: Base, trunk: Base
) -> dict[str, Any]:
    """Descend with phi, in place; return what that took."""
    method = estimator(params)
    problem = adaptation(
        base, depth=params.depth, lr=params.inner_lr, direction=params.divergence,
        trunk=trunk.net if "trunk" in phi else None,
    )  # fmt: skip
    counted = next(
        episodes(corpus, params.depth, generator_of(ctx, "counted"), base=base, trunk=trunk)
    )
    peak = method.peak_bytes(problem, phi, counted, generator_of(ctx, "counted directions"))
    started = time.perf_counter()
    steps = descend(
        problem,
        phi,
        episodes(corpus, params.depth, generator_of(ctx, "episodes"), base=base, trunk=trunk),
        [Phase(method=method, num_steps=params.steps, lr=params.lr)],
        generator=generator_of(ctx, "directions"),
        accumulate=params.accumulate,
    )
    values = [step.outer_value for step in steps]
    last = values[-max(1, len(values) // 4) :]
    return {
        "peak_bytes": peak,
        "seconds": time.perf_counter() - started,
        "outer_loss": sum(last) / len(last),
    }


def read_rows(
    models: Mapping[str, Base], trunk: Base, phi: Phi, corpus: Corpus, lrs: Sequence[float],
    said: Mapping[str, Any],
) -> list[Row]:  # fmt: skip
    """Return what each model knows of the test stream before and after it read it."""
    auc = separation(phi, trunk, corpus.test, corpus.window)
    rows: list[Row] = []
    for name, model in models.items():
        found = reading(model, trunk, phi, corpus, lrs)
        rows.append(
            {
                "peak_bytes": None,
                "outer_loss": None,
                **said,
                "eval_model": name,
                "em": found.after.exact_match,
                "f1": found.after.f1,
                "em_before": found.before.exact_match,
                "f1_before": found.before.f1,
                "qa_loss_before": found.before.loss,
                "qa_loss_after": found.after.loss,
                "validation_loss": found.validation_loss,
                "stream_lr": found.lr,
                "lr_at_edge": found.lr_place in (0, len(lrs) - 1),
                "value_auc": auc,
            }
        )
    return rows
