"""Tables of MT-Bench: mean ratings of a model and method, over all questions or by category."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.declare import (
    Cell,
    Column,
    Frame,
    Layout,
    Line,
    Series,
    Table,
    Tables,
    columns_of,
    measured,
    param,
    value,
)
from reproductions.lisa.models.layouts import ALL_METHODS, HEADS, models_and_methods
from reproductions.lisa.models.names import NAMES, QUALITY, THREE
from reproductions.lisa.mt_bench.experiment import Examined

CATEGORIES = (
    "writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities",
)  # fmt: skip
"""In the order of MT-Bench."""
MODEL = columns_of(Examined, "model", "method")
SEED = columns_of(Examined, "seed")
COUNTED = (
    measured(
        "judge",
        str,
        "Who rated, in the endpoint's words; empty where nobody did.",
        nullable=True,
    ),
    value("wording", str, "Hash of what all judges are told."),
    value("lr", float, "Rate of fine-tuning.", nullable=True),
    value("num_answers", int, "Questions times turns."),
    measured("num_rated", int, "Answers whose judgement has a rating."),
)
MEAN = measured(
    "mean_rating",
    float,
    "From 1 to 10, over all rated answers; empty where there is none.",
    nullable=True,
)


def mean_rows(tables: Tables, *, keys: tuple[str, ...]) -> Frame:
    """Return means over the answers of equal keys, one row each."""
    import pandas as pd

    summary: dict[str, Any] = {
        "judge": ("judge", _words),
        "wording": ("wording", _words),
        "lr": ("lr", "first"),
        "num_answers": ("turn", "size"),
        "num_rated": ("rating", "count"),
        "first_turn": ("first_turn", "mean"),
        "second_turn": ("second_turn", "mean"),
        "mean_rating": ("rating", "mean"),
    }
    # An empty frame has no columns; nor has one of runs that all diverged an answer.
    answered = [frame for frame in tables.values() if "turn" in frame]
    if not answered:
        return pd.DataFrame(columns=[*keys, *summary])
    answers = pd.concat(answered, ignore_index=True).dropna(subset=["turn"])
    rating = answers["rating"].astype("float64")
    groups = answers.assign(
        rating=rating,
        first_turn=rating.where(answers["turn"] == 1),
        second_turn=rating.where(answers["turn"] == 2),
    ).groupby(list(keys), sort=False)
    return groups.agg(**summary).reset_index()


def _words(column: Series) -> str | None:
    """Return the distinct words of a column, beside each other; None where it has none."""
    return " / ".join(dict.fromkeys(column.dropna())) or None


def _turn(name: str, turns: str) -> Column:
    return measured(name, float, f"Mean rating of the answers to {turns} turns.", nullable=True)


AVERAGES = Table.of(
    MODEL,
    SEED,
    COUNTED,
    _turn("first_turn", "first"),
    _turn("second_turn", "second"),
    MEAN,
    make=partial(mean_rows, keys=("model", "method", "seed")),
)
BY_CATEGORY = Table.of(
    MODEL,
    param("category", str, "Category of the questions."),
    SEED,
    COUNTED,
    MEAN,
    make=partial(mean_rows, keys=("model", "method", "category", "seed")),
)
NO_CODING = "The paper's values are of an early version, without coding and without GaLore."
AVERAGE_LAYOUT = Layout(
    rows=tuple(
        Line(NAMES[model], where={"model": model}, paper={"series": model})
        for model in (*THREE, QUALITY)
    ),
    columns=tuple(
        Line(HEADS[method], where={"method": method}, paper={"series": method})
        for method in ALL_METHODS
    ),
    cell=Cell("mean_rating"),
    notes=(NO_CODING,),
    ours=True,
)


def category_layout(*models: str, ours: bool = False, notes: tuple[str, ...] = ()) -> Layout:
    """Return the printed table of ratings by category of models, our own model last.

    ours: whether the layout is.
    """
    return Layout(
        rows=models_and_methods((*models, QUALITY)),
        columns=tuple(
            Line(
                "STEM" if category == "stem" else category.capitalize(),
                where={"category": category},
                paper={"series": category},
            )
            for category in CATEGORIES
        ),
        cell=Cell("mean_rating"),
        notes=(NO_CODING, *notes),
        ours=ours,
    )
