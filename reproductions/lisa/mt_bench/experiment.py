"""MT-Bench: answers of models before and after fine-tuning, graded by a judge.

Without a judge none of these is run. At `smoke` a few made-up questions are answered, and nobody
grades the answers.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from harness.declare import Estimate, doc, seeds_of
from reproductions.lisa.base_model.experiment import USES_BASE
from reproductions.lisa.finetuning.experiment import USES_TUNED
from reproductions.lisa.models.names import QUALITY, SMALLEST
from reproductions.lisa.models.scored import NOT_GIVEN, Scored, needs_of, scored

QUESTIONS, REFERENCES = "mt_bench_questions", "mt_bench_gpt4_reference"


class Examined(Scored):
    """A model that answers questions, and whether a judge rates the answers."""

    questions: Literal["mt_bench", "made_up"] = doc("Which questions.", default="mt_bench")
    judged: bool = doc("Whether a judge rates the answers.", default=True)
    max_new_tokens: int = doc("Tokens of an answer at most.")


class ExaminedGiven(Examined):
    """A model that answers questions and was handed in."""

    checkpoint: str = doc("Folder of the paper's models.", default=NOT_GIVEN)


def estimate(params: Examined) -> Estimate:
    """Return the answers' time and the judge's, which is a guess."""
    seconds = {SMALLEST: 1.3, QUALITY: 900.0}.get(params.model, 4400.0)
    return Estimate(seconds=seconds, memory_bytes=2**31)


untuned, tuned, given, given_70b = scored(
    "lisa/mt_bench",
    untuned="lisa/mt_bench_untuned",
    own={
        "smoke": Examined(model=SMALLEST, questions="made_up", judged=False, max_new_tokens=8),
        # Half of its context.
        "cpu": Examined(model=QUALITY, seed=seeds_of("cpu")[0], max_new_tokens=64),
    },
    # As in FastChat.
    given=ExaminedGiven(model="", max_new_tokens=1024),
    run=".mt_bench.trial:mt_bench_rows",
    needs=partial(
        needs_of, data=(QUESTIONS, REFERENCES), packages=("transformers", "peft", "tokenizers")
    ),
    estimate=estimate,
    uses=(USES_BASE, USES_TUNED),
)
