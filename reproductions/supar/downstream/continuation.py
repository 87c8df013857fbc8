"""The substitute for Table 2 that a tiny net can take, on the nets that `transfer` kept.

Questions are drawn from the test part of the training text by a fixed stream: the same ones for
every net, whatever its seed.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import (
    Estimate,
    Experiment,
    Needs,
    Outcome,
    RawParams,
    Row,
    RunContext,
    Status,
    Use,
)
from reproductions.supar.transfer import experiment as transfer

ITEMS_SEED = 0
"""Of the questions; no part of a grid, so that nobody compares nets over unlike questions."""
NUM_CHOICES = 4
NUM_ITEMS = 1000
"""Of each kind at `cpu`: an accuracy of a third is then known to 1.5 hundredths."""
SMOKE_ITEMS = 32
SMALL = {"prompt_bytes": 64, "continuation_bytes": 32}
SMALLER = {"prompt_bytes": 32, "continuation_bytes": 16}


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Ask the net of a transfer trial; one row a task, without accuracy where it diverged."""
    upstream = ctx.upstream(transfer.experiment, **transfer.net_of(params))
    if upstream.rows[0]["val_loss"] is None:
        rows = [_row(name, None, "") for name in ("choice", "last_word")]
        return Outcome(rows=rows, status=Status.DIVERGED, note="its net diverged in training")
    from reproductions.supar.downstream.continuations import (
        choice_accuracy,
        choice_items,
        greedy_accuracy,
        items_sha256,
        last_word_items,
        load_net,
    )
    from reproductions.supar.models.gpt_trial import corpus_of, gpt_config, parameterization_of
    from reproductions.supar.models.training import generator_of

    corpus = corpus_of(params, ctx)
    config = gpt_config(params, parameterization_of(params), corpus.vocab_size)
    model = load_net(config, upstream.load(transfer.MODEL)).to(ctx.device)
    count, prompt = int(params["num_items"]), int(params["prompt_bytes"])
    choices = choice_items(
        corpus.test_N,
        num_items=count,
        num_choices=NUM_CHOICES,
        context=prompt,
        continuation=int(params["continuation_bytes"]),
        generator=generator_of(ITEMS_SEED),
    )
    words = last_word_items(
        corpus.test_N, num_items=count, context=prompt, generator=generator_of(ITEMS_SEED)
    )
    return Outcome(
        rows=[
            _row("choice", choice_accuracy(model, choices), items_sha256(choices)),
            _row("last_word", greedy_accuracy(model, words), items_sha256(words)),
        ]
    )


def _row(task: str, accuracy: float | None, sha256: str) -> Row:
    guessing = 1.0 / NUM_CHOICES if task == "choice" else 0.0
    return {
        "task": task,
        "accuracy": accuracy,
        "random_accuracy": guessing,
        "items_sha256": sha256,
    }


def needs(params: RawParams) -> Needs:
    """Return the text that the net was trained on."""
    return Needs(data=(str(params["data"]),))


def estimate(params: RawParams) -> Estimate:
    """Return what a trial costs: one forward pass a choice."""
    per_item_s = 0.03 * (int(params["width"]) / 256) ** 2
    return Estimate(seconds=0.2 + per_item_s * int(params["num_items"]))


def smoke_grid() -> Iterator[RawParams]:
    """Yield every net of `transfer`, with few questions: the path, not a result."""
    for point in transfer.smoke_grid():
        yield {**point, "num_items": SMOKE_ITEMS, **SMALLER}


def cpu_grid() -> Iterator[RawParams]:
    """Yield every net of `transfer`."""
    for point in transfer.cpu_grid():
        yield {**point, "num_items": NUM_ITEMS, **SMALL}


experiment = Experiment(
    id="supar/continuation",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    needs=needs,
    uses=(Use(experiment=transfer.experiment, params=transfer.net_of),),
    estimate=estimate,
    address=("scheme", "density", "seed"),
)
