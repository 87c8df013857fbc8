"""Tables 2 and 5: which models are scored, the tables, and claims that hold, fail, lack rows."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from harness.declare.experiment import Status
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.errors import DataError
from harness.store.table_csv import build_table
from reproductions.lisa.finetuning import experiment as finetune
from reproductions.lisa.lm_benchmarks import tab02, tab05
from reproductions.lisa.lm_benchmarks.experiment import DATASETS, Asked, tuned
from reproductions.lisa.lm_benchmarks.quantities import leads_but_error
from reproductions.lisa.lm_benchmarks.trial import accuracy_rows
from reproductions.lisa.models.benchmarks.scorer import log_likelihoods
from reproductions.lisa.models.scored import NOT_GIVEN, VANILLA, load_given
from tests.grids import grid
from tests.reproductions.lisa.benchmark_models import examinee
from tests.reproductions.lisa.made import Case, Upstream
from tests.verdicts import claim_of, decide

TASKS = (tab02.task, tab05.task)
HOLDS = {VANILLA: 0.40, "lora": 0.40, "galore": 0.38, "lisa": 0.42, "full": 0.43}
FAILS = {VANILLA: 0.50, "lora": 0.46, "galore": 0.44, "lisa": 0.40, "full": 0.39}


# --- models ---


def came_to(point: Asked, *ends: str) -> Upstream:
    """Return a fine-tuning at the declared rate with rows of some splits."""
    rows = [{"split": split, "loss": 0.1} for split in ends]
    return Upstream({finetune.RATES["lora"]: {point.seed: rows}})


class Blank:
    """A model that takes any weights."""

    model: Any = SimpleNamespace(load_state_dict=lambda weights: None)


def first_point() -> Asked:
    return Asked.from_json(tuned.params_of("cpu")[0])


def test_model_that_the_run_tuned_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finetune, "base_of", lambda model, ctx: Blank())
    point = first_point()
    ctx = came_to(point, "test", "train", "validation")
    found = finetune.load_scored(point, ctx)
    assert found is not None
    assert found[1] == finetune.RATES["lora"]
    (trial,) = ctx.loaded
    assert trial.keep_weights
    assert trial.to_json() in finetune.runs.params_of("cpu")


def test_method_that_diverged_has_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finetune, "base_of", lambda model, ctx: Blank())
    outcome = accuracy_rows(first_point(), came_to(first_point(), "test", "train"))
    assert (list(outcome.rows), outcome.status) == ([], Status.DIVERGED)


def test_model_handed_in_is_the_one_that_was_saved(tmp_path: Path) -> None:
    lm, name = examinee(), "tinyllama-lora-1"
    with pytest.raises(DataError, match=r"tinyllama-lora-1.*--set checkpoint=FOLDER"):
        load_given(name, NOT_GIVEN, device="cpu")
    with pytest.raises(DataError, match=name):
        load_given(name, str(tmp_path), device="cpu")
    lm.model.save_pretrained(tmp_path / name)
    lm.tokenizer.save_pretrained(tmp_path / name)
    pairs = [("The baker laughs.", " The letter works."), ("A", " B")]
    given = load_given(name, str(tmp_path), device="cpu")
    assert log_likelihoods(given, pairs) == log_likelihoods(lm, pairs)


# --- tables ---


METRICS = [
    *((name, "acc") for name in DATASETS if name != "gsm8k"),
    *(("gsm8k", f"exact_match {kind}") for kind in ("strict-match", "flexible-extract")),
]


def scores(case: Case, models: tuple[str, ...], num_seeds: int) -> pd.DataFrame:
    """Return scores as the claims want them, or with LISA behind and vanilla far ahead.

    Where they hold, full training is ahead of LISA by less than the standard error.
    """
    shares = HOLDS if case == "holds" else FAILS
    rows = grid(model=models, method=shares, asked=METRICS, seed=range(num_seeds))
    rows[["task", "metric"]] = rows.pop("asked").to_list()
    # LISA by the other filter is far off: no claim reads it.
    other = rows["metric"].str.contains("flexible")
    found = (rows["method"].map(shares) + 0.001 * (rows["seed"] - 2)).mask(other, 0.9)
    return rows.assign(
        lr=None, accuracy=found, stderr=0.02, random_accuracy=0.25, num_documents=200,
        scorer_accuracy=found + (0.0 if case == "holds" else 0.005),
        lm_eval_version="0", task_sha256="0",
    )  # fmt: skip


@cache
def table_of(task: Task, case: Case, *, num_seeds: int = 5) -> pd.DataFrame:
    given = task.reads[-1]
    models = ("a", "b", "c") if task.id == "lisa/tab02" else ("d",)
    frames = {one.id: pd.DataFrame() for one in task.reads}
    return build_table(task, frames | {given.id: scores(case, models, num_seeds)})


def one_seed(case: Case) -> pd.DataFrame:
    table = table_of(TASKS[0], case)
    return table[table["seed"] == 1].reset_index(drop=True)


def cells_won(table: pd.DataFrame) -> int:
    return sum(lead >= 0 for lead in leads_but_error(table))


def test_lisa_wins_a_cell_up_to_one_standard_error_of_the_best() -> None:
    table = one_seed("holds")
    assert cells_won(table) == 9
    full = table["method"] == "full"
    for shift, won in ((0.0099, 9), (0.0101, 6)):
        moved = table.copy()
        moved.loc[full & (table["model"] == "b"), "accuracy"] += shift
        assert cells_won(moved) == won
    # Its own error is no excuse.
    worse = table.assign(stderr=table["stderr"].mask(full, 0.009))
    assert cells_won(worse) == 0


@pytest.mark.parametrize("name", ["gsm8k", "pubmedqa"])
def test_either_benchmark_of_table_5_decides(name: str) -> None:
    claim = claim_of(tab05.task, "lisa_at_least_lora")
    table = table_of(tab05.task, "holds")
    behind = (table["task"] == name) & (table["method"] == "lisa")
    moved = table.assign(accuracy=table["accuracy"].mask(behind, 0.1))
    assert decide(tab05.task, claim, moved).word is Word.CONTRADICTED
