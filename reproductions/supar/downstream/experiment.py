"""Accuracy of Figure 3's nets, which `transfer` kept: nothing is trained again.

`downstream` asks them Table 2's tasks by lm-eval; `given` asks nets that need no upstream trial:
untrained ones, for what a net gets that knows nothing, and at `paper` checkpoints named by
`--set checkpoint=FOLDER`, with lm-eval's stock tasks. `continuation` is the substitute for Table 2
that a tiny net can take: questions drawn from the test part of the training text by a fixed
stream, the same ones for every net, whatever its seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, Use, doc
from reproductions.supar.models.points import FixedPoint, StartedNet, point
from reproductions.supar.transfer.experiment import transfer, transfer_grid

Suite = Literal["grammar", "local", "stock"]
DATASETS = {
    "arc_easy": "arc_easy",
    "lambada": "lambada_test",
    "piqa": "piqa_val",
    "boolq": "boolq_val_noctx",
}
"""Task -> data set in the catalogue; there is none for RACE."""
MAX_DOCUMENTS = 100
"""Documents per task at `cpu`, the first ones: nets guess there, which five hundredths tell."""
SMOKE_DOCUMENTS = 8
ALL = 0
UNTRAINED = "untrained"
NOT_GIVEN = "not given"


class Asked(Params):
    """What a net is asked of Table 2's tasks."""

    suite: Suite = doc("grammar: made-up documents; local: the staged data; stock: lm-eval's own.")
    max_documents: int = doc("Documents per task, the first ones; 0 for all.")


class ScoredNet(Asked, FixedPoint):
    """A net of `transfer` that is asked Table 2's tasks."""


class GivenNet(Asked, StartedNet):
    """A net that is handed in, or untrained, and asked Table 2's tasks."""

    checkpoint: str = doc("Folder of checkpoints, untrained, or not given.")


class QuestionedNet(FixedPoint):
    """A net of `transfer` that is asked questions about held-out text."""

    num_items: int = doc("Questions of each kind.")
    prompt_bytes: int = doc("Length of what stands before an answer.")
    continuation_bytes: int = doc("Length of each of the four choices.")


def net_of(params: ScoredNet | QuestionedNet) -> FixedPoint:
    """Return the trial of `transfer` behind one that asks its net."""
    return point(FixedPoint, params)


def scored_grid(profile: Profile) -> Iterator[ScoredNet]:
    """Yield every net of `transfer`, on the staged data; on made-up documents at `smoke`."""
    asked: dict[Profile, tuple[Suite, int]] = {
        "smoke": ("grammar", SMOKE_DOCUMENTS),
        "cpu": ("local", MAX_DOCUMENTS),
    }
    if profile in asked:
        suite, count = asked[profile]
        for net in transfer_grid(profile):
            yield point(ScoredNet, net, suite=suite, max_documents=count)


def given_grid(profile: Profile) -> Iterator[GivenNet]:
    """Yield an untrained net per seed; at `paper` every net of Figure 3, to be handed in."""
    for net in transfer_grid(profile):
        if profile == "paper":
            yield point(GivenNet, net, checkpoint=NOT_GIVEN, suite="stock", max_documents=ALL)
    for scored in scored_grid(profile):
        if scored.scheme == "supar" and scored.density == 1.0:
            yield point(GivenNet, scored, checkpoint=UNTRAINED)


def questioned_grid(profile: Profile) -> Iterator[QuestionedNet]:
    """Yield every net of `transfer`; 500 questions tell an accuracy of a third to 0.02."""
    asked: dict[Profile, tuple[int, int, int]] = {"smoke": (32, 32, 16), "cpu": (500, 32, 8)}
    if profile in asked:
        count, prompt, length = asked[profile]
        for net in transfer_grid(profile):
            yield point(
                QuestionedNet, net, num_items=count, prompt_bytes=prompt, continuation_bytes=length
            )


def needs(params: ScoredNet | GivenNet) -> Needs:
    """Return the tasks' data, lm-eval, and at `paper` a GPU."""
    if params.suite == "stock":
        return Needs(device="cuda", gpu_bytes=8 * 2**30, packages=("lm_eval", "transformers"))
    data = ("grammar-text",) if params.suite == "grammar" else tuple(DATASETS.values())
    return Needs(data=data, packages=("lm_eval",))


def asked(params: ScoredNet) -> Mapping[str, str]:
    """Return what the tasks that a net is asked stand in for."""
    match params.suite:
        case "grammar":
            return dict.fromkeys(("ARC-easy", "LAMBADA", "PIQA", "BoolQ"), "made-up documents")
        case "local":
            return {"BoolQ": "its questions without their passages"}
        case "stock":
            return {}


def estimate(params: ScoredNet | GivenNet) -> Estimate:
    """Return what a trial costs: forward passes, and a share of a worker's import of lm-eval."""
    if params.suite == "stock":
        return Estimate(seconds=600.0)
    per_document_s = 0.07 * (params.width / 256) ** 2
    return Estimate(seconds=0.5 + per_document_s * params.max_documents)


def question_estimate(params: QuestionedNet) -> Estimate:
    """Return what a trial costs: one forward pass per choice."""
    per_item_s = 0.015 * (params.width / 256) ** 2
    return Estimate(seconds=0.2 + per_item_s * params.num_items)


downstream = Experiment(
    "supar/downstream",
    version=1,
    params=ScoredNet,
    grid=scored_grid,
    run="trial:score_kept",
    needs=needs,
    uses=(Use(experiment=transfer, params=net_of),),
    estimate=estimate,
    address=("scheme", "density", "seed"),
    stands_in=asked,
)
given = Experiment(
    "supar/downstream_given",
    version=1,
    params=GivenNet,
    grid=given_grid,
    run="trial:score_given",
    needs=needs,
    estimate=estimate,
    address=("checkpoint", "scheme", "density", "seed"),
)
continuation = Experiment(
    "supar/continuation",
    version=1,
    params=QuestionedNet,
    grid=questioned_grid,
    run="trial:answer_questions",
    needs=lambda params: Needs(data=(params.data,)),
    uses=(Use(experiment=transfer, params=net_of),),
    estimate=question_estimate,
    address=("scheme", "density", "seed"),
)
