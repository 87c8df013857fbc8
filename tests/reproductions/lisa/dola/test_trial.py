"""Table 13: questions and their answers, the trials it starts from, and its claims."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd
import pytest

from harness.declare.experiment import Status
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.lisa.continual.experiment import RATES
from reproductions.lisa.dola import experiment
from reproductions.lisa.dola.decoding import dola, quarter_exits
from reproductions.lisa.dola.tab13 import task
from reproductions.lisa.dola.trial import (
    asked,
    decoded_rows,
    demonstrations,
    dola_rows,
    marked,
)
from reproductions.lisa.finetuning.experiment import GAMMA
from reproductions.lisa.models.generation import greedy
from reproductions.lisa.models.word_problems import Problem, extracted
from tests.grids import grid
from tests.reproductions.lisa.decoding_models import prompts, speaker
from tests.reproductions.lisa.made import Upstream
from tests.verdicts import controlled

Case = Literal["holds", "fails", "none_before"]


def test_rows_count_what_each_decoding_gets_right() -> None:
    lm, tokens = speaker("llama"), prompts(12)
    said_tokens = greedy(lm, tokens, max_new_tokens=8)
    said = [str(lm.tokenizer.decode(one)) for one in said_tokens]
    numbers = [extracted(text, filter="flexible") for text in said]
    assert numbers.count("[invalid]") < 10
    # Every other question has the result that greedy decoding gives, if it gives one.
    results = [
        number if place % 2 and number != "[invalid]" else "none"
        for place, number in enumerate(numbers)
    ]
    problems = [Problem(question="", answer=f"#### {result}", key="") for result in results]
    plain, by_dola = dola_rows(lm, tokens, problems, max_new_tokens=8)
    num_right = sum(number == result for number, result in zip(numbers, results, strict=True))
    assert num_right > 0
    assert plain["flexible_accuracy"] == num_right / 12
    assert plain["accuracy"] == 0.0
    assert (plain["unlike_greedy"], plain["exits"]) == (0.0, "4")
    others = dola(lm, tokens, max_new_tokens=8, exits=quarter_exits(4))
    found = [extracted(str(lm.tokenizer.decode(one)), filter="flexible") for one in others]
    num_right = sum(number == result for number, result in zip(found, results, strict=True))
    assert by_dola["flexible_accuracy"] == num_right / 12
    assert by_dola["exits"] == "0 1 2 4"
    unlike = [one != other for one, other in zip(others, said_tokens, strict=True)]
    assert by_dola["unlike_greedy"] == sum(unlike) / 12 > 0.5


# --- GSM8K ---


def test_gsm8k_is_asked_after_eight_solved_questions() -> None:
    shots = demonstrations()
    prompt = asked({"question": "Why?", "answer": "So. #### 4"}, shots=shots).question
    assert prompt.startswith("Q: There are 15 trees in the grove.")
    assert prompt.count("\nA: ") == shots.count("The answer is ") == 8
    assert prompt.endswith("The answer is 8.\n\nQ: Why?\nA:")


@pytest.mark.parametrize(
    ("said", "strict", "flexible"),
    [
        (" 5 + 4 = 9. The answer is 9.\n\nQ: And 3?\nA: The answer is 3.", "9", "9"),
        (" So the answer is $1,234.50. Not 7.", "1,234.50", "1,234.50"),
        (" The answer is -12.", "-12", "-12"),
        (" First 5, then 9.\n\nQ: Is it 3?", "[invalid]", "9."),
        (" I cannot say.", "[invalid]", "[invalid]"),
    ],
)
def test_the_result_is_after_the_phrase_or_is_the_last_number(
    said: str, strict: str, flexible: str
) -> None:
    assert extracted(marked(said), filter="strict") == strict
    assert extracted(marked(said), filter="flexible") == flexible


# --- trials ---


def test_training_that_diverged_is_not_decoded() -> None:
    point = next(experiment.grid("cpu"))
    begun = [{"stage": "text", "split": "validation", "loss": 0.1, "accuracy": None}]
    gone: Any = Upstream({RATES[GAMMA]: {point.seed: begun}})
    assert decoded_rows(point, gone).status is Status.DIVERGED


# --- claims ---


def answers(case: Case, seeds: int) -> pd.DataFrame:
    """Return answers to GSM8K; LISA leads or trails."""
    rows = grid(seed=range(seeds), weights=("vanilla", "lisa"), decoding=("greedy", "dola"))
    ahead = (rows["weights"] == "lisa") == (case == "holds")
    good = (0.5 + 0.01 * rows["seed"]).where(ahead, 0.1)
    # What greedy decoding gets right is the other way round, and decides nothing.
    share = good.where(rows["decoding"] == "dola", 0.9 - good)
    share = share.mask((rows["weights"] == "vanilla") & (case == "none_before"), 0.0)
    return rows.assign(
        questions="gsm8k", model="m", lr=None, exits="0 4", accuracy=share,
        flexible_accuracy=share, unlike_greedy=0.5, num_questions=100, status="done",
    )  # fmt: skip


def decide(case: Case, *, seeds: int = 5) -> Word:
    (claim,) = task.claims
    frames = {
        experiment.decoded.id: pd.DataFrame(),
        experiment.given.id: answers(case, seeds),
    }
    table = build_table(task, frames)
    return controlled(claim, table, seed=task.table.seed, profile="paper").word


def test_claim_holds_fails_and_needs_seeds_and_an_answer() -> None:
    assert decide("holds") is Word.SUPPORTED
    assert decide("fails") is Word.CONTRADICTED
    assert decide("holds", seeds=2) is Word.UNDECIDED
    assert decide("none_before") is Word.UNDECIDED
