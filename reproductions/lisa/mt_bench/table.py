"""Tables of MT-Bench: mean ratings of a model and method, over all questions or by category."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import Column, Table, Tables

if TYPE_CHECKING:
    import pandas as pd

CATEGORIES = (
    "writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities",
)  # fmt: skip
"""In the order of MT-Bench."""

_OF_MODEL = (
    Column(name="model", type="str", role="param", doc="What is fine-tuned."),
    Column(
        name="method", type="str", role="param",
        doc="vanilla (not fine-tuned), lora, galore, lisa or full.",
    ),
)  # fmt: skip
_SEED = Column(name="seed", type="int", role="seed", doc="Of fine-tuning and of answers.")
_COUNTED = (
    Column(
        name="judge", type="str", role="measurement", nullable=True,
        doc="Who rated, in the endpoint's words; empty where nobody did.",
    ),
    Column(name="wording", type="str", role="value", doc="Hash of what all judges are told."),
    Column(name="lr", type="float", role="value", nullable=True, doc="Rate of fine-tuning."),
    Column(name="num_answers", type="int", role="value", doc="Questions times turns."),
    Column(
        name="num_rated", type="int", role="measurement",
        doc="Of these, answers whose judgement has a rating.",
    ),
)  # fmt: skip


def _rating(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="measurement", doc=doc, nullable=True)


MEAN = _rating("mean_rating", "From 1 to 10, over all rated answers; empty where there is none.")
AVERAGE_COLUMNS = Table(
    (
        *_OF_MODEL,
        _SEED,
        *_COUNTED,
        _rating("first_turn", "Mean rating of the answers to first turns."),
        _rating("second_turn", "Mean rating of the answers to second turns."),
        MEAN,
    )
)
CATEGORY_COLUMNS = Table(
    (
        *_OF_MODEL,
        Column(name="category", type="str", role="param", doc="Of the questions."),
        _SEED,
        *_COUNTED,
        MEAN,
    )
)


def average_table(frames: Tables) -> pd.DataFrame:
    """Return one row a model, method and seed."""
    return _summary(frames, ["model", "method", "seed"], AVERAGE_COLUMNS)


def category_table(frames: Tables) -> pd.DataFrame:
    """Return one row a model, method, category and seed."""
    return _summary(frames, ["model", "method", "category", "seed"], CATEGORY_COLUMNS)


def _summary(frames: Tables, keys: list[str], columns: Table) -> pd.DataFrame:
    import pandas as pd

    # An empty frame has no columns; nor has one of runs that all diverged an answer.
    answered = [frame for frame in frames.values() if "turn" in frame]
    if not answered:
        return pd.DataFrame(columns=columns.names)
    answers = pd.concat(answered, ignore_index=True).dropna(subset=["turn"])
    rating = answers["rating"].astype("float64")
    groups = answers.assign(
        rating=rating,
        first_turn=rating.where(answers["turn"] == 1),
        second_turn=rating.where(answers["turn"] == 2),
    ).groupby(keys, sort=False)
    table = groups.agg(
        judge=("judge", _words),
        wording=("wording", _words),
        lr=("lr", "first"),
        num_answers=("turn", "size"),
        num_rated=("rating", "count"),
        first_turn=("first_turn", "mean"),
        second_turn=("second_turn", "mean"),
        mean_rating=("rating", "mean"),
    )
    return table.reset_index().reindex(columns=columns.names)


def _words(column: pd.Series[str]) -> str | None:
    """Return the distinct words of a column, beside each other; None where it has none."""
    return " / ".join(dict.fromkeys(column.dropna())) or None
