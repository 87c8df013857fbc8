"""Table of answers by DoLa and greedily: a row per model, decoding and seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import Table, Tables, param, seed_column, value
from reproductions.lisa.dola.experiment import decoded, given

if TYPE_CHECKING:
    import pandas as pd


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
