"""Word problems solved by DoLa and greedily, before and after tuning; GSM8K if handed in.

Decoded are the models that pre-training and continual pre-training kept, and the paper's, as
checkpoints named by `--set checkpoint=FOLDER`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from statistics import fmean

from harness.declare import Estimate, Experiment, Needs, Params, Profile, RunContext, Use, doc, seed
from harness.declare.experiment import UpstreamResult
from reproductions.lisa.base_model.experiment import USES_BASE
from reproductions.lisa.continual import experiment as continual
from reproductions.lisa.continual.experiment import Stages, TwoStages
from reproductions.lisa.finetuning.experiment import GAMMA
from reproductions.lisa.models.names import SMALLEST
from reproductions.lisa.models.scored import NOT_GIVEN, SEEDS
from reproductions.lisa.models.shapes import shape_of

NUM_QUESTIONS = 100
"""As many as the paper's."""
MAX_NEW_TOKENS = 256
"""On GSM8K; the default of DoLa's authors."""
TEST = "gsm8k_test"
PAPER_MODEL = "llama-2-7b"
"""It has 32 blocks, as the paper's exits say; which model it was is not known."""
CACHE_BYTES = 64 * 10**9
"""Keys, values and hidden states of 64 prompts of a thousand tokens, in bfloat16."""


class Decoded(Stages):
    """Answers of LISA's model after continual pre-training, and of the model before it."""

    num_questions: int = doc("How many are asked.")


class Given(Params):
    """Answers of models handed in."""

    model: str = doc("What answers.", default=PAPER_MODEL)
    seed: int = seed("One tuning.", default=0)
    checkpoint: str = doc("Folder of the paper's models.", default=NOT_GIVEN)
    num_questions: int = doc("How many are asked.", default=NUM_QUESTIONS)
    max_new_tokens: int = doc("Tokens of an answer at most.", default=MAX_NEW_TOKENS)


def grid(profile: Profile) -> Iterator[Decoded]:
    """Yield one trial per seed of LISA's with two blocks."""
    num_questions = 2 if profile == "smoke" else NUM_QUESTIONS
    seen = set()
    for trial in continual.grid(profile):
        if trial.method == "lisa" and trial.gamma == GAMMA and trial.seed not in seen:
            seen.add(trial.seed)
            shared = {n: v for n, v in trial.to_json().items() if n not in ("lr", "keep_weights")}
            yield Decoded.from_json({**shared, "num_questions": num_questions})


def given_grid(profile: Profile) -> Iterator[Given]:
    """Yield the paper's model, as checkpoints to be handed in."""
    if profile == "paper":
        for number in SEEDS:
            yield Given(seed=number)


def tuned(params: Decoded, *, lr: float, seed: int) -> TwoStages:
    """Return the trial of continual pre-training at a rate and seed, which kept its weights.

    At `smoke`, which has one of each, always the same: an experiment names as many trials at every
    profile.
    """
    own = {name: value for name, value in params.to_json().items() if name != "num_questions"}
    if params.model == SMALLEST:
        lr, seed = continual.SMALL.lr, continual.SMALL.seed
    return TwoStages.from_json({**own, "lr": lr, "seed": seed, "keep_weights": True})


def best_rate(params: Decoded, ctx: RunContext) -> float | None:
    """Return the rate that Table 4 has too: the most validation problems solved over all seeds.

    At a tie it is the one of least validation loss. None where a run diverged at this rate.
    """
    found = []
    for lr in continual.LRS:
        trials = [tuned(params, lr=lr, seed=seed) for seed in continual.SEEDS]
        ends = [validation(ctx.upstream(continual.runs, trial)) for trial in trials]
        solved, losses = zip(*ends, strict=True)
        found.append((-fmean(solved), fmean(losses), trials[0].lr))
    _, loss, lr = min(found)
    return None if math.isinf(loss) else lr


def validation(upstream: UpstreamResult) -> tuple[float, float]:
    """Return the share of validation problems solved at the end, and the loss; 0 and infinite
    where the run diverged."""
    rows = [
        row for row in upstream.rows if (row["stage"], row["split"]) == ("problems", "validation")
    ]
    found = [(float(row["accuracy"] or 0.0), float(row["loss"] or 0.0)) for row in rows]
    return found[0] if found else (0.0, math.inf)


def estimate(params: Decoded) -> Estimate:
    """Return a start, and four passes over the questions."""
    per_question_s = 0.01 if params.model == SMALLEST else 0.2
    return Estimate(seconds=4.0 + per_question_s * params.num_questions, memory_bytes=2**31)


def given_needs(params: Given) -> Needs:
    """Return GSM8K and a GPU for a model in bfloat16 with its cache."""
    packages = ("transformers", "tokenizers", "lm_eval")
    room = 2 * shape_of(params.model).num_params + CACHE_BYTES
    return Needs(data=(TEST,), device="cuda", gpu_bytes=room, packages=packages)


decoded = Experiment(
    "lisa/dola",
    version=1,
    params=Decoded,
    grid=grid,
    run="trial:decoded_rows",
    needs=Needs(memory_bytes=2**31, packages=("transformers", "tokenizers")),
    uses=(
        *USES_BASE,
        *(
            Use(experiment=continual.runs, params=partial(tuned, lr=lr, seed=seed))
            for lr in continual.LRS
            for seed in continual.SEEDS
        ),
    ),
    estimate=estimate,
    address=("model", "seed"),
)
given = Experiment(
    "lisa/dola_given",
    version=1,
    params=Given,
    grid=given_grid,
    run="trial:given_rows",
    needs=given_needs,
    estimate=lambda params: Estimate(seconds=1800.0),
    timeout_s=4 * 3600.0,
    address=("model", "seed"),
)
