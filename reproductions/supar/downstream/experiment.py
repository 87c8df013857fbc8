"""Accuracy on Table 2's tasks, by lm-eval: of Figure 3's nets, and of nets handed in.

`downstream` scores the nets that `transfer` kept; nothing is trained again. `given` scores nets
that need no upstream trial: untrained ones, for what a net gets that knows nothing, and at
`paper` checkpoints named by `--set checkpoint=FOLDER`, with lm-eval's stock tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
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
    Use,
)
from harness.errors import DataError
from reproductions.supar.models.points import Point
from reproductions.supar.transfer import experiment as transfer

if TYPE_CHECKING:
    import torch

    from harness.lm_eval import Documents, LMTask
    from reproductions.nets.gpt import GPTConfig
    from reproductions.supar.downstream.byte_lm import TokenLM

DATASETS = {
    "arc_easy": "arc_easy",
    "lambada": "lambada_test",
    "piqa": "piqa_val",
    "boolq": "boolq_val_noctx",
}
"""Task -> data set in the catalogue; there is none for RACE."""
MAX_DOCUMENTS = 500
"""Of each task at `cpu`, the first ones: an accuracy is then known to two hundredths."""
SMOKE_DOCUMENTS = 8
ALL = 0
UNTRAINED = "untrained"
NOT_GIVEN = "not given"
NET = (
    "scheme", "density", "seed", "lr", "init_std", "input_multiplier", "output_multiplier",
    "device", "tokenizer", "width", "base_width", "num_layers", "head_size", "feed_forward",
    "positions", "context",
)  # fmt: skip
"""What of a transfer trial's parameters describes its net."""


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Score the net of a transfer trial; one row a task, without accuracy where it diverged."""
    upstream = ctx.upstream(transfer.experiment, **transfer.net_of(params))
    if upstream.rows[0]["val_loss"] is None:
        rows = [not_scored(name) for name in DATASETS]
        return Outcome(rows=rows, status=Status.DIVERGED, note="its net diverged in training")
    return Outcome(rows=_score(params, ctx, upstream.load(transfer.MODEL)))


def run_given(params: RawParams, ctx: RunContext) -> Outcome:
    """Score a net handed in, or an untrained one; one row a task."""
    if params["checkpoint"] == UNTRAINED:
        return Outcome(rows=_score(params, ctx, None))
    from safetensors.torch import load_file

    return Outcome(rows=_score(params, ctx, load_file(checkpoint_file(params))))


def checkpoint_file(params: RawParams) -> Path:
    """Return `FOLDER/<scheme>-<density>-<seed>.safetensors`, a `state_dict` of our GPT.

    Raises DataError where no folder was given, or it has no such file.
    """
    name = f"{params['scheme']}-{float(params['density']):.7g}-{params['seed']}.safetensors"
    path = Path(str(params["checkpoint"])) / name
    if params["checkpoint"] == NOT_GIVEN or not path.is_file():
        raise DataError(
            f"no checkpoint {name}: keep one of each net of Figure 3 in a folder and say "
            "--set checkpoint=FOLDER"
        )
    return path


def not_scored(name: str) -> dict[str, str | int | float | None]:
    """Return the row of a task that gave no accuracy."""
    counts = {"random_accuracy": None, "num_documents": 0}
    texts = {"lm_eval_version": "", "task_sha256": ""}
    return {"task": name, "accuracy": None, "stderr": None, **counts, **texts}


def _score(
    params: RawParams, ctx: RunContext, tensors: Mapping[str, torch.Tensor] | None
) -> list[Row]:
    from harness.lm_eval import stay_offline
    from reproductions.supar.downstream.lm_tasks import stock_tasks

    if params["suite"] != "stock":
        stay_offline()
    from reproductions.supar.downstream.byte_lm import accuracies

    tasks = stock_tasks() if params["suite"] == "stock" else _local_tasks(params, ctx)
    limit = int(params["max_documents"]) or None
    return accuracies(_language_model(params, ctx, tensors), tasks, num_documents=limit)


def _language_model(
    params: RawParams, ctx: RunContext, tensors: Mapping[str, torch.Tensor] | None
) -> TokenLM:
    from reproductions.nets.gpt import GPT
    from reproductions.supar.downstream.byte_lm import byte_lm, gpt2_lm
    from reproductions.supar.downstream.continuations import load_net
    from reproductions.supar.models.training import generator_of

    config = net_config(params)
    if tensors is None:
        model = GPT(config, generator=generator_of(ctx.seed("init"))).eval()
    else:
        model = load_net(config, tensors)
    return (gpt2_lm if params["tokenizer"] == "gpt2" else byte_lm)(model.to(ctx.device))


def net_config(params: RawParams) -> GPTConfig:
    """Return the net of a transfer trial, from its parameters."""
    from reproductions.supar.models.costs import vocabulary
    from reproductions.supar.models.gpt_trial import gpt_config, parameterization_of

    return gpt_config(params, parameterization_of(params), vocabulary(params))


def _local_tasks(params: RawParams, ctx: RunContext) -> dict[str, LMTask]:
    from reproductions.supar.downstream.lm_tasks import documents_from_text, local_tasks

    if params["suite"] == "grammar":
        text = ctx.dataset("grammar-text").text
        return local_tasks(documents_from_text(text, int(params["max_documents"])))
    documents: dict[str, Documents] = {
        task: ctx.dataset(name).records for task, name in DATASETS.items()
    }
    # The staged file holds the training split, too.
    documents["arc_easy"] = [row for row in documents["arc_easy"] if row["split"] == "test"]
    return local_tasks(documents)


def needs(params: RawParams) -> Needs:
    """Return the tasks' data, lm-eval, and at `paper` a GPU."""
    if params["suite"] == "stock":
        return Needs(device="cuda", gpu_bytes=8 * 2**30, packages=("lm_eval", "transformers"))
    data = ("grammar-text",) if params["suite"] == "grammar" else tuple(DATASETS.values())
    return Needs(data=data, packages=("lm_eval",))


def estimate(params: RawParams) -> Estimate:
    """Return what a trial costs: forward passes, and a share of a worker's import of lm-eval."""
    if params["suite"] == "stock":
        return Estimate(seconds=600.0)
    per_document_s = 0.07 * (int(params["width"]) / 256) ** 2
    return Estimate(seconds=0.5 + per_document_s * int(params["max_documents"]))


def smoke_grid() -> Iterator[RawParams]:
    """Yield every net of `transfer`, on a few made-up documents."""
    for point in transfer.smoke_grid():
        yield {**point, "suite": "grammar", "max_documents": SMOKE_DOCUMENTS}


def cpu_grid() -> Iterator[RawParams]:
    """Yield every net of `transfer`, on the staged data."""
    for point in transfer.cpu_grid():
        yield {**point, "suite": "local", "max_documents": MAX_DOCUMENTS}


def given_smoke_grid() -> Iterator[RawParams]:
    """Yield an untrained net, on a few made-up documents."""
    suite: Point = {"suite": "grammar", "max_documents": SMOKE_DOCUMENTS}
    yield from _untrained(transfer.smoke_grid(), suite)


def given_cpu_grid() -> Iterator[RawParams]:
    """Yield an untrained net a seed, on the staged data."""
    suite: Point = {"suite": "local", "max_documents": MAX_DOCUMENTS}
    yield from _untrained(transfer.cpu_grid(), suite)


def given_paper_grid() -> Iterator[RawParams]:
    """Yield every net of Figure 3, as checkpoints to be handed in."""
    for point in transfer.paper_grid():
        suite: Point = {"checkpoint": NOT_GIVEN, "suite": "stock", "max_documents": ALL}
        yield {name: point[name] for name in NET} | suite


def _untrained(points: Iterator[RawParams], suite: Point) -> Iterator[RawParams]:
    for point in points:
        if point["scheme"] == "supar" and point["density"] == 1.0:
            yield {name: point[name] for name in NET} | {"checkpoint": UNTRAINED} | suite


experiment = Experiment(
    id="supar/downstream",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    needs=needs,
    uses=(Use(experiment=transfer.experiment, params=transfer.net_of),),
    estimate=estimate,
    address=("scheme", "density", "seed"),
)
given = Experiment(
    id="supar/downstream_given",
    version=1,
    run=run_given,
    grid={"smoke": given_smoke_grid, "cpu": given_cpu_grid, "paper": given_paper_grid},
    needs=needs,
    estimate=estimate,
    address=("checkpoint", "scheme", "density", "seed"),
)
