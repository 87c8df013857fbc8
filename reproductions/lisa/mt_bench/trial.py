"""From the parameters of an MT-Bench trial to its rows: answers, and what a judge says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harness.declare import Outcome, Row, RunContext, Status
from reproductions.lisa.finetuning.experiment import load_scored
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.mt_bench.answers import MADE_UP, Answer, Question, answer, read_questions
from reproductions.lisa.mt_bench.experiment import QUESTIONS, REFERENCES, Examined
from reproductions.lisa.mt_bench.grading import (
    Grades,
    messages_for,
    prompt_hash,
    rating_in,
    wording_hash,
)
from reproductions.lisa.mt_bench.judge import Judge, settings_from_environment


def mt_bench_rows(params: Examined, ctx: RunContext) -> Outcome:
    """Let a model answer all questions; where it was tuned, at its best learning rate."""
    found = load_scored(params, ctx)
    if found is None:
        return Outcome(rows=[], status=Status.DIVERGED, note="it diverged at every learning rate")
    lm, lr = found
    return Outcome(rows=rows_of(params, ctx, lm=lm, lr=lr))


def rows_of(params: Examined, ctx: RunContext, *, lm: LanguageModel, lr: float | None) -> list[Row]:
    """Let a model answer all questions; return one row per question and turn.

    lr: the rate that the model was fine-tuned with, for the rows; None where there is none.
    Where the trial is not to be judged, ratings, judge and judgements are empty.
    Raises EnvError or RunError where the judge does not answer; what it said before is kept.
    """
    rows: list[Row] = []
    with grades_of(params, ctx) as grades:
        for question in questions_of(params, ctx):
            answers = answer(lm, question, max_new_tokens=params.max_new_tokens, seed_of=ctx.seed)
            rows += [{**row, "lr": lr} for row in graded(question, answers, grades)]
    return rows


def questions_of(params: Examined, ctx: RunContext) -> Sequence[Question]:
    """Return MT-Bench's questions, or the made-up ones."""
    if params.questions == "made_up":
        return MADE_UP
    return read_questions(ctx.dataset(QUESTIONS).records, ctx.dataset(REFERENCES).records)


@contextmanager
def grades_of(params: Examined, ctx: RunContext) -> Iterator[Grades | None]:
    """Open the judge that the environment names; None where the trial is not to be judged.

    What it says is kept on disk until the trial has come to its end.
    """
    if not params.judged:
        yield None
        return
    with Judge(settings_from_environment()) as judge:
        grades = Grades(judge, ctx.checkpoint_path())
        yield grades
        grades.forget()


def graded(question: Question, answers: Sequence[Answer], grades: Grades | None) -> Iterator[Row]:
    """Yield a row for each answer of one conversation."""
    for turn, one in enumerate(answers, start=1):
        messages = messages_for(question, [each.text for each in answers[:turn]])
        judgement = grades.grade(messages) if grades is not None else None
        yield {
            "question_id": question.id,
            "turn": turn,
            "category": question.category,
            "answer": one.text,
            "answer_tokens": one.num_tokens,
            "cut_tokens": one.num_cut,
            "rating": rating_in(judgement.text) if judgement else None,
            "judge": judgement.judge if judgement else None,
            "wording": wording_hash(),
            "prompt": prompt_hash(messages),
            "judgement": judgement.text if judgement else None,
        }
