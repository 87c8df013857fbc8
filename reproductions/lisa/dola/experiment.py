"""Word problems solved by DoLa and greedily, before and after tuning; GSM8K if handed in.

Decoded are the models that pre-training and continual pre-training kept, and the paper's, as
checkpoints named by `--set checkpoint=FOLDER`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.declare import Estimate, Experiment, Needs, Params, Profile, Use, doc, seed, seeds_of
from reproductions.lisa.base_model.experiment import USES_BASE
from reproductions.lisa.continual import experiment as continual
from reproductions.lisa.continual.experiment import TwoStages
from reproductions.lisa.finetuning.experiment import GAMMA
from reproductions.lisa.models.names import QUALITY, SMALLEST
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


class Decoded(Params):
    """Answers of LISA's model after continual pre-training, and of the model before it."""

    model: str = doc("What answers.")
    seed: int = seed("One training by LISA, and its draw of questions.")
    num_questions: int = doc("How many are asked.")
    max_new_tokens: int = doc("Tokens of an answer at most.")


class Given(Params):
    """Answers of models handed in."""

    model: str = doc("What answers.", default=PAPER_MODEL)
    seed: int = seed("One tuning.", default=0)
    checkpoint: str = doc("Folder of the paper's models.", default=NOT_GIVEN)
    num_questions: int = doc("How many are asked.", default=NUM_QUESTIONS)
    max_new_tokens: int = doc("Tokens of an answer at most.", default=MAX_NEW_TOKENS)


def grid(profile: Profile) -> Iterator[Decoded]:
    """Yield one trial per seed."""
    if profile == "smoke":
        yield Decoded(model=SMALLEST, seed=0, num_questions=2, max_new_tokens=4)
    if profile == "cpu":
        for number in seeds_of(profile):
            yield Decoded(
                model=QUALITY, seed=number, num_questions=NUM_QUESTIONS,
                max_new_tokens=continual.OURS.max_new_tokens,
            )  # fmt: skip


def given_grid(profile: Profile) -> Iterator[Given]:
    """Yield the paper's model, as checkpoints to be handed in."""
    if profile == "paper":
        for number in SEEDS:
            yield Given(seed=number)


def tuned(params: Decoded) -> TwoStages:
    """Return the trial of continual pre-training by LISA at a seed, which kept its weights."""
    small = params.model == SMALLEST
    base = continual.lisa(continual.SMALL if small else continual.OURS, GAMMA)
    lr = base.lr if small else continual.RATES[GAMMA]
    return replace(base, model=params.model, lr=lr, seed=params.seed)


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
    uses=(*USES_BASE, Use(experiment=continual.runs, params=tuned)),
    # A start, and four passes over the questions.
    estimate=lambda params: Estimate(seconds=4.0 + 0.2 * params.num_questions, memory_bytes=2**31),
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
