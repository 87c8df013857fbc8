"""Table 13: GSM8K with DoLa's early exits, and word problems of our own in its place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare import (
    PAPER,
    Cell,
    Criterion,
    InvalidQuantity,
    Layout,
    Line,
    Table,
    Tables,
    Task,
    at_least,
    claims,
    ours,
    param,
    pick,
    seed_column,
    value,
)
from reproductions.lisa.continual.experiment import half_of
from reproductions.lisa.dola.experiment import PAPER_MODEL, decoded, given
from reproductions.lisa.finetuning.experiment import GAMMA
from reproductions.lisa.models.claims import IN_HOUSE, stand_in
from reproductions.lisa.models.layouts import HEADS, MODELS, OWN, PROBLEMS
from reproductions.lisa.models.names import QUALITY
from reproductions.lisa.models.scored import VANILLA
from reproductions.lisa.models.shapes import shape_of

if TYPE_CHECKING:
    import pandas as pd

NUM_BLOCKS = shape_of(QUALITY).num_blocks
ON_GSM8K = ours(
    "DEV-04",
    profiles=PAPER,
    elsewhere="GSM8K is asked of the paper's model, whose weights are not at hand; the in-house"
    " model answers word problems of its own size",
)


def answer_rows(tables: Tables) -> pd.DataFrame:
    """Return the rows of both experiments."""
    import pandas as pd

    parts = [tables[one.id] for one in (decoded, given) if len(tables[one.id])]
    return pd.concat(parts)[ANSWERS.names] if parts else pd.DataFrame(columns=ANSWERS.names)


ANSWERS = Table.of(
    param("questions", str, "word_problems: in-house, of one or two steps; gsm8k: the paper's."),
    param("model", str, "What answers."),
    param(
        "weights",
        str,
        "vanilla: pre-trained alone; lisa: then tuned, in-house on text and on problems.",
    ),
    param("decoding", str, "greedy: the most probable token; dola: what the last block adds."),
    seed_column("One tuning, and in-house a draw of questions."),
    value(
        "lr",
        float,
        "Rate that Table 4 chose for this method; empty for what was not tuned here.",
        nullable=True,
    ),
    value(
        "exits",
        str,
        "Numbers of blocks after which DoLa may leave; the last is the whole model.",
    ),
    value("accuracy", float, "Share of answers whose marked result is right."),
    value(
        "flexible_accuracy",
        float,
        "The same with the last number as the result of an answer; on gsm8k only where nothing is"
        " marked.",
    ),
    value("unlike_greedy", float, "Share of answers that are not those of greedy decoding."),
    value("num_questions", int, "How many were asked."),
    make=answer_rows,
)


def lead_under_dola(table: pd.DataFrame, *, questions: str, value: str) -> float:
    """Return LISA's share of right answers minus the untuned model's, both decoded by DoLa.

    Raises InvalidQuantity where the untuned model has none: whatever was tuned is ahead of it.
    """
    rows = pick(table, questions=questions, decoding="dola")
    lisa, vanilla = (
        float(pick(rows, weights=weights)[value].astype(float).mean())
        for weights in ("lisa", "vanilla")
    )
    if vanilla == 0.0:
        raise InvalidQuantity("the untuned model solves nothing, so any tuning is ahead of it")
    return lisa - vanilla


def no_lead_of_vanilla(questions: str) -> Criterion:
    """Ask that LISA's model solves at least as many as the untuned one."""
    quantity = partial(lead_under_dola, questions=questions, value="flexible_accuracy")
    return at_least(quantity, 0, "share").measuring(
        "share solved by LISA's model less that by the untuned one"
    )


def head_of(weights: str, model: str) -> str:
    """Return the head of a row: which model was tuned how."""
    # The checkpoints of the paper's model are what they are.
    own = weights == "lisa" and model == QUALITY
    return f"{HEADS[weights]}, gamma = {GAMMA}" if own else HEADS[weights]


LAYOUT = Layout(
    rows=tuple(
        Line(
            head_of(weights, model),
            group=head,
            where={"model": model, "questions": questions, "weights": weights},
        )
        for model, questions, head in (
            (PAPER_MODEL, "gsm8k", f"{MODELS[PAPER_MODEL]}, GSM8K"),
            (QUALITY, "word_problems", f"{OWN}; {PROBLEMS}"),
        )
        for weights in (VANILLA, "lisa")
    ),
    columns=(
        Line("DoLa", where={"decoding": "dola"}),
        Line("greedy", where={"decoding": "greedy"}),
        *(
            Line(
                head,
                group="marked results alone",
                where={"decoding": decoding},
                cell=Cell("accuracy", unit="%", scale=0.01, digits=1),
            )
            for decoding, head in (("dola", "DoLa"), ("greedy", "greedy"))
        ),
    ),
    cell=Cell("flexible_accuracy", unit="%", scale=0.01, digits=1),
    notes=(
        "The last number of an answer is its result; the columns of marked results, and those of"
        " greedy decoding, are not the paper's.",
        f"The in-house LISA trains {GAMMA} of {NUM_BLOCKS} blocks at once; half of them,"
        f" {half_of(QUALITY)}, is Table 4's setting. Which one Table 13 has is not known to us.",
    ),
    ours=True,
)
task = Task(
    "lisa/tab13",
    reads=(decoded, given),
    table=ANSWERS,
    layout=LAYOUT,
    claims=claims(
        stand_in("Table 13"),
        (
            "lisa_at_least_vanilla",
            IN_HOUSE,
            no_lead_of_vanilla("word_problems"),
            "Under DoLa the model of LISA, which has"
            f" {GAMMA} of {NUM_BLOCKS} blocks trained at once, solves at least as many questions of"
            " GSM8K as the untuned one, which solves some; the last number of an answer is its"
            " result.",
        ),
    )
    + claims(
        "Table 13",
        (
            "lisa_at_least_vanilla_gsm8k",
            ON_GSM8K,
            no_lead_of_vanilla("gsm8k"),
            "Under DoLa LISA's model solves at least as many of 100 questions of GSM8K as the"
            " untuned one.",
        ),
    ),
    figure="figures:answer_points",
    caption="Answers whose last number is right, decoded greedily and by DoLa, before and after"
    " tuning. Word problems of our own unless the profile is the paper's, which has GSM8K."
    f" In-house, LISA trains {GAMMA} of {NUM_BLOCKS} blocks at once, and in Table 4 half of them."
    " Dots: runs, over seeds; lines: their mean.",
    alt="Share of right answers of the untuned model and of LISA's, greedy and by DoLa.",
)
