"""Table 13: problems solved with DoLa's early exits, before and after tuning by LISA."""

from __future__ import annotations

from harness.declare import (
    PAPER,
    Cell,
    Frame,
    InvalidQuantity,
    Layout,
    Line,
    Table,
    Tables,
    Task,
    at_least,
    claims,
    param,
    pick,
    seed_column,
    value,
)
from reproductions.lisa.continual.experiment import half_of
from reproductions.lisa.dola.experiment import PAPER_MODEL, decoded, given
from reproductions.lisa.finetuning.experiment import GAMMA
from reproductions.lisa.models.claims import HANDED_IN
from reproductions.lisa.models.layouts import HEADS, PROBLEMS
from reproductions.lisa.models.names import NAMES, QUALITY
from reproductions.lisa.models.scored import VANILLA
from reproductions.lisa.models.shapes import shape_of

NUM_BLOCKS = shape_of(QUALITY).num_blocks


def answer_rows(tables: Tables) -> Frame:
    """Return the rows of both experiments."""
    import pandas as pd

    parts = [tables[one.id] for one in (decoded, given) if len(tables[one.id])]
    return pd.concat(parts)[ANSWERS.names] if parts else pd.DataFrame(columns=ANSWERS.names)


SHARES = {
    "accuracy": "Share of answers whose marked result is right.",
    "flexible_accuracy": "The same with the last number as the result of an answer; on gsm8k only"
    " where nothing is marked.",
    "unlike_greedy": "Share of answers that are not those of greedy decoding.",
}
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
        "Learning rate of its training; empty for what was not tuned here.",
        nullable=True,
    ),
    value(
        "exits", str, "Numbers of blocks after which DoLa may leave; the last is the whole model."
    ),
    (value(name, float, doc) for name, doc in SHARES.items()),
    value("num_questions", int, "How many were asked."),
    make=answer_rows,
)


def lead_under_dola(table: Frame) -> float:
    """Return LISA's share of right answers less the untuned model's, both decoded by DoLa.

    Raises InvalidQuantity where the untuned model has none: whatever was tuned is ahead of it.
    """
    rows = pick(table, decoding="dola")
    lisa, vanilla = (
        float(pick(rows, weights=weights)["flexible_accuracy"].astype(float).mean())
        for weights in ("lisa", "vanilla")
    )
    if vanilla == 0.0:
        raise InvalidQuantity("the untuned model solves nothing, so any tuning is ahead of it")
    return lisa - vanilla


def solved(table: Frame) -> float:
    """Return LISA's share of right answers, decoded greedily."""
    rows = pick(table, decoding="greedy", weights="lisa")
    return float(rows["flexible_accuracy"].astype(float).mean())


LEAST_SOLVED = 0.1
WITH_ANSWERS = HANDED_IN.at(
    *PAPER, elsewhere="the untuned model solves nothing here, so any tuning would be ahead of it"
).controlled(
    "LISA's model solves a tenth of the problems",
    at_least(solved, LEAST_SOLVED, "share"),
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
            (PAPER_MODEL, "gsm8k", f"{NAMES[PAPER_MODEL]}, GSM8K"),
            (QUALITY, "word_problems", f"{NAMES[QUALITY]}; {PROBLEMS}"),
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
        "An answer's result is its last number. The paper has neither greedy decoding nor the"
        " columns of marked results.",
        f"The in-house LISA trains {GAMMA} of {NUM_BLOCKS} blocks at once, but"
        f" {half_of(QUALITY)} in Table 4. We do not know Table 13's gamma.",
    ),
    ours=True,
)
task = Task(
    "lisa/tab13",
    reads=(decoded, given),
    table=ANSWERS,
    layout=LAYOUT,
    claims=claims(
        "Table 13",
        (
            "lisa_at_least_vanilla",
            WITH_ANSWERS,
            at_least(lead_under_dola, 0, "share").measuring(
                "share solved by LISA's model less that by the untuned one"
            ),
            "Decoded by DoLa, LISA's model solves at least as much of GSM8K as the untuned one.",
        ),
    ),
    figure="figures:answer_points",
    caption="Share of answers whose last number is right, decoded greedily and by DoLa, before and"
    f" after tuning. LISA trains {GAMMA} blocks at once. Dots: runs, over seeds; lines: their"
    " mean.",
    alt="Share of right answers of the untuned model and of LISA's, greedy and by DoLa.",
)
