"""Claims on online adaptation: where they hold, fail, or lack seeds; tables, layouts, figures."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd

from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.fg2u.adaptation import tab02
from reproductions.fg2u.adaptation.experiment import (
    Counting,
    Weighing,
    costs,
    first,
    first_phase,
    second,
    second_phase,
)
from reproductions.fg2u.adaptation.given_experiment import Given, handed_in
from reproductions.fg2u.adaptation.table import CANDIDATE, EQUAL, FG2U, LONGER, RGU
from tests.reproductions.fg2u.trials import Case
from tests.verdicts import decide

READERS = ("small", "large", "largest")


def level(point: Weighing, weighing: str, case: Case) -> float:
    """Return a score: with more depth, a larger base, or a second phase it is better, or worse."""
    if weighing == "equal":
        return {"weak": 0.5, "exact_low": 0.6}.get(case, 0.2)
    better = 0.01 * (point.depth > 6) + 0.01 * (point.depth > 24)
    better += 0.03 * (point.meta_base == "large") + 0.01 * (point.phase == 2)
    better += 0.03 * (point.method == "fg2u")
    # What holds of the smaller base holds the other way round of the larger: 48 below 24.
    if point.meta_base == "large":
        better -= 0.015 * (point.depth > 24)
    return 0.4 + (better if case == "holds" else -better)


def rows_of(points: list[Weighing], case: Case) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for point in points:
        for weighing in ("equal", "learned")[point.phase - 1 :]:
            for reader in READERS:
                score = level(point, weighing, case) + 1e-3 * (point.seed % 100)
                rows.append(
                    {
                        **point.to_json(),
                        "status": "done",
                        "weighing": weighing,
                        "eval_model": reader,
                        "em": score / 2,
                        "f1": score,
                        "em_before": 0.0,
                        "f1_before": 0.01,
                        "qa_loss_before": 2.5 if case == "weak" else 4.0,
                        "qa_loss_after": 3.0 - score,
                        "validation_loss": 3.0 - score,
                        "stream_lr": 1e-3,
                        "lr_at_edge": False,
                        "value_auc": 0.9,
                        "outer_loss": 1.0,
                        "peak_bytes": 1000,
                        "seconds": 1.0,
                    }
                )
    return pd.DataFrame(rows)


def counted(case: Case) -> pd.DataFrame:
    growth = {"rgu": 0.0, "fg2u": 1.0} if case == "fails" else {"rgu": 1.0, "fg2u": 0.0}
    return pd.DataFrame(
        {
            **Counting().to_json(),
            "status": "done",
            "method": method,
            "depth": depth,
            "peak_bytes": round(1000 * (1 + growth[method] * (depth / 6 - 1))),
            "gradient_error": (0.0 if case == "holds" else 0.1) if depth == 6 else None,
        }
        for method, depths in {"rgu": (6, 24), "fg2u": (6, 48)}.items()
        for depth in depths
    )


def points_of(experiment: Any, profile: Profile = "cpu") -> list[Weighing]:
    return [Weighing.from_json(point) for point in experiment.params_of(profile)]


def table_of(task: Task, case: Case, profile: Profile = "cpu") -> pd.DataFrame:
    """Return the table of a profile: at `paper` all models are handed in, at `cpu` none is."""
    return built(task, case, profile).copy()


@cache
def built(task: Task, case: Case, profile: Profile) -> pd.DataFrame:
    tables = {one.id: rows_of(points_of(one, profile), case) for one in (first, second)}
    if costs in task.reads:
        tables[costs.id] = counted(case)
    if handed_in in task.reads:
        given = [Given.from_json(point) for point in handed_in.params_of(profile)]
        tables[handed_in.id] = rows_of(list(given), case)
    return build_table(task, tables)


def test_of_four_candidates_the_least_mean_validation_loss_has_the_name() -> None:
    tables = {one.id: rows_of(points_of(one), "holds") for one in (first, second)}
    runs = tables[second.id]
    worse = (runs["method"] == "fg2u") & ~((runs["depth"] == 48) & (runs["meta_base"] == "small"))
    # One seed that speaks for another candidate does not decide.
    runs.loc[worse & (runs["seed"] > 100), "validation_loss"] = 9.0
    table = build_table(tab02.task, tables)
    chosen = table[table["entry"] == FG2U]
    assert set(zip(chosen["depth"], chosen["meta_base_model"], strict=True)) == {(48, "small")}
    assert (
        len(table[(table["entry"] == CANDIDATE) & (table["method"] == "fg2u")]) == 3 * (5 + 3) * 3
    )
    for entry in (EQUAL, RGU, FG2U, LONGER):
        assert len(table[table["entry"] == entry]) == 3 * (5 + 3), entry


def test_a_step_size_at_the_edge_decides_nothing() -> None:
    table = table_of(tab02.task, "holds")
    table.loc[table["entry"] == FG2U, "lr_at_edge"] = True
    here = [claim for claim in tab02.task.claims if "cpu" in claim.scope.profiles]
    words = {claim.id: decide(tab02.task, claim, table).word for claim in here}
    assert words["fg2u_above_rgu_streamingqa"] is Word.UNDECIDED
    assert words["learned_beats_equal_streamingqa"] is Word.SUPPORTED


def test_methods_get_as_many_steps_and_candidates() -> None:
    runs = [p for p in points_of(second) if (p.stream, p.seed) == ("streamingqa", 100)]
    ours = [p for p in runs if p.method == "fg2u"]
    longer = [p for p in runs if p.method == "rgu" and p.depth == 6]
    assert len(ours) == len(longer) == 4
    assert len({p.steps for p in runs}) == 1
    assert {p.num_directions for p in ours} == {8, 12}
    assert second_phase("streamingqa", "even", "rgu", "small", 6, seed=100) in longer
    assert first_phase("streamingqa", "even", seed=100) in points_of(first)
