"""What the claims on online adaptation are about. Every function takes the table of one seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from harness.declare import Frame, MissingRows, pick
from reproductions.fg2u.adaptation.table import COUNTED, EQUAL

HIGHER_IS_BETTER = {"f1": 1.0, "qa_loss_after": -1.0}
"""Scores, and what makes them ascend."""
Pair = tuple[Mapping[str, str | int], Mapping[str, str | int]]
"""What tells two rows of a stream and a model apart: the one that is left, and the better one."""


def score(table: Frame, column: str, /, **where: str | int) -> float:
    """Return the score of one row, so turned that more is better."""
    rows = pick(table, **where)
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} rows where {where}, need one")
    return HIGHER_IS_BETTER[column] * float(rows[column].iloc[0])


def gains(
    table: Frame,
    *,
    column: str,
    datasets: Sequence[str],
    eval_models: Sequence[str],
    pairs: Sequence[Pair],
) -> list[float]:
    """Return by how much the second row of each pair is better, by stream and model that reads."""
    found = []
    for dataset in datasets:
        for model in eval_models:
            own = pick(table, dataset=dataset, eval_model=model)
            found += [score(own, column, **to) - score(own, column, **left) for left, to in pairs]
    return found


def learned_by_reading(
    table: Frame, *, datasets: Sequence[str], eval_models: Sequence[str]
) -> list[float]:
    """Return by how much a model that read with equal weights has a lower loss of the answers."""
    found = []
    for dataset in datasets:
        for model in eval_models:
            rows = pick(table, dataset=dataset, eval_model=model, entry=EQUAL)
            found.append(float((rows["qa_loss_before"] - rows["qa_loss_after"]).mean()))
    return found


def of_base(base: str, depth: int) -> dict[str, str | int]:
    """Return which row (FG)2U has by the base and the documents of its unroll."""
    return {"method": "fg2u", "phase": 2, "meta_base_model": base, "depth": depth}


def bytes_ratio(table: Frame, *, method: str, depths: tuple[int, int]) -> float:
    """Return live bytes of a gradient at the second depth over those at the first."""
    few, many = (
        pick(table, entry=COUNTED, method=method, depth=depth)["peak_bytes"] for depth in depths
    )
    return float(many.iloc[0]) / float(few.iloc[0])


def gradient_error(table: Frame) -> float:
    """Return the largest distance of (FG)2U along every coordinate from RGU."""
    rows = pick(table, entry=COUNTED)["gradient_error"].dropna()
    if rows.empty:
        raise MissingRows("no gradient was set beside RGU's")
    return float(rows.max())


def at_edge(
    table: Frame,
    *,
    datasets: Sequence[str],
    eval_models: Sequence[str],
    pairs: Sequence[Pair],
) -> str:
    """Say where Adam's step size was chosen at an end of its candidates, in rows of `gains`."""
    sides = {tuple(side.items()) for pair in pairs for side in pair}
    found = [
        bool(edge)
        for dataset, model, side in product(datasets, eval_models, sides)
        for edge in pick(table, dataset=dataset, eval_model=model, **dict(side))["lr_at_edge"]
    ]
    if not any(found):
        return ""
    return (
        f"Adam's step size was chosen at an end of its candidates in {sum(found)} of {len(found)}"
    )
