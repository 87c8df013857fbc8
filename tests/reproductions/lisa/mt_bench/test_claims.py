"""Claims on MT-Bench: where they hold, fail or cannot be decided; tables, figures, references."""

from __future__ import annotations

from functools import cache

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.reference import load_reference
from harness.declare.statistics import InvalidQuantity
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.publish.figures import draw
from harness.store.table_csv import build_table, validate
from reproductions.lisa.mt_bench import tab03, tab08, tab09
from reproductions.lisa.mt_bench.quantities import leads
from reproductions.lisa.mt_bench.tab08 import MEMORISED, REASONED
from reproductions.lisa.mt_bench.table import CATEGORIES
from tests.grids import grid
from tests.reproductions.lisa.made import FOLDER, Case
from tests.verdicts import decide

TASKS = (tab03.task, tab08.task, tab09.task)
CLAIMS = [pytest.param(t, c, id=f"{t.id}:{c.id}") for t in TASKS for c in t.claims]
OWN, GIVEN = ("tiny-quality",), ("tinyllama", "mistral-7b", "llama-2-7b", "llama-2-70b")
METHODS = ("vanilla", "lora", "galore", "lisa", "full")
QUESTIONS_A_CATEGORY = 2


def rating(method: str, category: str, case: Case) -> float:
    """Return a plain rating.

    Holds: LoRA 4, full training 4.5, LISA 5 on average, its lead largest where it is claimed.
    Fails: LISA is behind both, most where its lead is claimed.
    """
    if method != "lisa":
        return {"vanilla": 2.0, "lora": 4.0, "galore": 4.2, "full": 4.5}[method]
    extra = 1.0 if category in MEMORISED else -1.0 if category in REASONED else 0.0
    return 5.0 + extra if case == "holds" else 3.0 - extra


def answers(case: Case, *, num_seeds: int = 5, models: tuple[str, ...] = GIVEN) -> pd.DataFrame:
    """Return rows as the experiments give them, with ratings that differ by seed and turn."""
    return _answers(case, num_seeds, models).copy()


@cache
def _answers(case: Case, num_seeds: int, models: tuple[str, ...]) -> pd.DataFrame:
    rows = grid(
        model=models, method=METHODS, seed=range(num_seeds), category=CATEGORIES,
        number=range(QUESTIONS_A_CATEGORY), turn=(1, 2),
    )  # fmt: skip
    asked = 10 * rows["category"].map(CATEGORIES.index) + rows.pop("number")
    ratings = [rating(*row, case) for row in rows[["method", "category"]].to_numpy()]
    ratings += 0.01 * rows["seed"] + rows["turn"].map({1: 0.5, 2: -0.5})
    rows = rows.assign(question_id=asked, rating=ratings, judge="judge-1", wording="w")
    return rows.assign(status="done", lr=1e-3)


def built(task: Task, rows: pd.DataFrame) -> pd.DataFrame:
    """Return a task's table from answers."""
    frames = {experiment.id: pd.DataFrame() for experiment in task.reads}
    return build_table(task, {**frames, task.reads[1].id: rows})


@cache
def table_of(task: Task, case: Case, models: tuple[str, ...] = GIVEN) -> pd.DataFrame:
    return built(task, answers(case, models=models))


@pytest.mark.parametrize(("task", "claim"), CLAIMS)
def test_without_ratings_or_a_model_nothing_is_decided(task: Task, claim: Claim) -> None:
    table = table_of(task, "holds")
    unrated = decide(task, claim, table.assign(num_rated=0, mean_rating=None, judge=None))
    assert (unrated.word, "no judge has rated" in unrated.reason) == (Word.UNTESTED, True)
    assert decide(task, claim, table[table["model"] == GIVEN[0]]).word is Word.UNTESTED
    told_nothing = decide(task, claim, table.assign(mean_rating=1.0))
    assert told_nothing.word is Word.UNDECIDED
    assert "tells nothing apart" in told_nothing.reason


@pytest.mark.parametrize(("task", "claim"), CLAIMS)
def test_every_model_decides(task: Task, claim: Claim) -> None:
    table, behind = table_of(task, "holds"), table_of(task, "fails")
    for model in GIVEN[3:] if task is tab09.task else GIVEN[:3]:
        mixed = pd.concat([table[table["model"] != model], behind[behind["model"] == model]])
        assert decide(task, claim, mixed).word is Word.CONTRADICTED, model


def test_the_paper_s_band_is_decided_in_its_own_setting_alone() -> None:
    (banded,) = (c for c in tab03.task.claims if c.scope.threshold_from == "paper")
    rows = answers("holds")
    # 5.5 over 4 is 37.5 %, as much as the early abstract allows and the proceedings do not.
    rows.loc[rows["method"] == "lisa", "rating"] += 0.5
    assert decide(TASKS[0], banded, built(TASKS[0], rows)).word is Word.CONTRADICTED


def lead_over_lora(table: pd.DataFrame) -> float:
    (lead,) = leads(table, model=OWN[0], one="lisa", others=("lora",))
    return lead


def test_an_average_weighs_every_rated_answer_the_same() -> None:
    rows = answers("holds", num_seeds=1, models=OWN)
    # One of 32 answers has no rating: still enough of them do.
    first = (rows["method"] == "lora").idxmax()
    rows.loc[first, "rating"] = None
    rated = rows.assign(rating=rows["rating"].astype(float)).groupby("method")["rating"].mean()
    for task in TASKS[:2]:
        table = built(task, rows)
        assert lead_over_lora(table) == pytest.approx(rated["lisa"] - rated["lora"])
        assert table["num_answers"].sum() - table["num_rated"].sum() == 1


@pytest.mark.parametrize(
    ("where", "is_value", "changed", "words"),
    [
        ("method", "lisa", {"judge": "another"}, "several judges are not compared"),
        ("turn", 2, {"wording": "another"}, "several wordings are not compared"),
        ("method", "lora", {"rating": None}, "only 0% of a method's answers"),
    ],
)
def test_ratings_of_several_judges_or_too_few_are_not_compared(
    where: str, is_value: object, changed: dict[str, object], words: str
) -> None:
    rows = answers("holds", num_seeds=1, models=OWN)
    for name, value in changed.items():
        rows.loc[rows[where] == is_value, name] = value
    with pytest.raises(InvalidQuantity, match=words):
        lead_over_lora(built(TASKS[0], rows))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_table_and_figure_are_whole(task: Task) -> None:
    """With ratings, which no run here has."""
    table = table_of(task, "holds", OWN)
    assert len(validate(table, task.table, where=task.id)) == len(table) > 0
    reference = load_reference(FOLDER, task.id.split("/")[1])
    assert draw(task, table=table, reference=reference, profile="cpu")


def test_early_averages_are_the_means_of_early_categories() -> None:
    averages = load_reference(FOLDER, "tab03").query("y_name == 'mean_rating'")
    cells = load_reference(FOLDER, "tab08")
    assert (len(averages), len(cells), len(load_reference(FOLDER, "tab09"))) == (12, 84, 28)
    for row in averages.itertuples():
        own = cells[cells["series"].str.startswith(f"{row.series} ")]
        assert len(own) == 7
        # Both were rounded to hundredths.
        assert own["value"].mean() == pytest.approx(row.value, abs=0.0101), row.series
