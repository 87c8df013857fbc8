"""Two stages of training on the smallest model, and the claims on what comes out."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr

from harness.declare.experiment import Status
from harness.declare.statistics import InvalidQuantity
from harness.declare.task import Task
from harness.store.table_csv import build_table
from reproductions.lisa.continual import experiment as continual
from reproductions.lisa.continual import fig07, tab04
from reproductions.lisa.continual.experiment import TwoStages
from reproductions.lisa.continual.quantities import lead, rank_correlation
from reproductions.lisa.continual.table import pilot_rows
from reproductions.lisa.continual.trial import Trial, problems_of, rows_of, text_of
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.pretraining import WEIGHTS
from reproductions.lisa.models.training import IGNORED, windows
from reproductions.lisa.models.word_problems import sample, split_of, statements
from tests.made_runs import MadeRun
from tests.reproductions.lisa.made import Case
from tests.reproductions.lisa.models.test_training import fresh

TASKS = (tab04.task, fig07.task)


def run_of(params: TwoStages) -> MadeRun:
    return MadeRun({"seed": params.seed})


@pytest.fixture(scope="module")
def lm() -> LanguageModel:
    return fresh()


def point(method: str, gamma: int = 0, **changed: Any) -> TwoStages:
    (found,) = (p for p in continual.grid("smoke") if (p.method, p.gamma) == (method, gamma))
    return replace(found, **changed)


def trial(lm: LanguageModel, params: TwoStages) -> Trial:
    return Trial(params=params, ctx=run_of(params), lm=lm)


def test_windows_are_the_text_in_order(lm: LanguageModel) -> None:
    paragraphs = list(islice(statements(seed=3), 60))
    windows_NT = windows(lm, iter(paragraphs), most=6, num_tokens=20)
    assert windows_NT.shape == (6, 20)
    assert (windows_NT[:, 0] == lm.bos).all()
    tokens = [token for text in paragraphs for token in [*lm.encode(text), lm.eos]]
    assert windows_NT[:, 1:].flatten().tolist() == tokens[: 6 * 19]


def test_loss_is_on_answers_alone_and_training_sees_no_held_out_problem(
    lm: LanguageModel,
) -> None:
    made = trial(lm, point("full", problems_steps=40, batch_size=4))
    seen = 0
    for batch in problems_of(made):
        for ids, labels in zip(batch.ids_BT, batch.labels_BT, strict=True):
            answer = [int(token) for token in labels if token != IGNORED]
            assert answer[-1] == lm.eos
            # The answer ends the sequence; what comes before it is given.
            start = int((labels != IGNORED).nonzero()[0])
            assert ids[start : start + len(answer)].tolist() == answer
            assert re.fullmatch(r" .*\n#### \d+", lm.tokenizer.decode(answer[:-1]), re.DOTALL)
            seen += 1
    assert seen == 160
    assert {split_of(p.key) for p in made.held_out("test")} == {"test"}


def test_score_counts_what_greedy_decoding_solves(
    lm: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With answers put in its mouth: right, right without the mark, and wrong."""
    problems = sample("test", 3, seed=1)
    right = [problem.answer for problem in problems]
    said = [right[0], right[1].replace("####", "so"), right[2] + "0"]
    monkeypatch.setattr(
        "reproductions.lisa.continual.trial.greedy",
        lambda lm, prompts, max_new_tokens: [lm.encode(text) for text in said],
    )
    found = trial(lm, point("full")).score(problems)
    assert (found["accuracy"], found["flexible_accuracy"]) == (1 / 3, 2 / 3)
    # New weights guess evenly among 320 tokens.
    assert found["loss"] == pytest.approx(math.log(320), abs=0.1)


def test_methods_at_a_seed_see_the_same_text_and_problems(lm: LanguageModel) -> None:
    full, lisa = (trial(lm, point(*told)) for told in (("full",), ("lisa", 1)))
    for stage in (text_of, problems_of):
        for one, other in zip(stage(full), stage(lisa), strict=True):
            assert torch.equal(one.ids_BT, other.ids_BT)
    assert full.held_out("test") == lisa.held_out("test")
    other_seed = trial(lm, point("full", seed=1))
    assert other_seed.held_out("test") != full.held_out("test")


def test_lisa_with_all_blocks_is_full_training_in_both_stages() -> None:
    told: dict[str, Any] = {"text_steps": 5, "problems_steps": 5, "lr": 3e-3}
    full = point("full", **told)
    every = point("lisa", 1, **told)
    every = replace(every, gamma=4, period=2)
    rows = [rows_of(params, run_of(params), fresh()).rows for params in (full, every)]
    assert rows[0] == rows[1]
    one = replace(every, gamma=1)
    assert rows_of(one, run_of(one), fresh()).rows != rows[0]


def test_lisa_trains_other_blocks_in_the_second_stage_too() -> None:
    """Blocks that the first stage left frozen are trained by the second."""
    params = point("lisa", 1, text_steps=2, problems_steps=8, period=2, keep_weights=True)
    before = {name: value.clone() for name, value in fresh().model.state_dict().items()}
    ctx = run_of(params)
    rows_of(params, ctx, fresh())
    changed = {
        name.split(".")[2]
        for name, value in ctx.saved[WEIGHTS].items()
        if ".layers." in name and not torch.equal(value, before[name])
    }
    assert len(changed) >= 3


def test_a_run_that_blows_up_is_diverged_and_has_no_last_rows() -> None:
    params = point("full", text_steps=8, lr=1e4)
    broken = fresh()
    with torch.no_grad():
        broken.model.get_input_embeddings().weight[5:] = math.inf
    outcome = rows_of(params, run_of(params), broken)
    assert outcome.status is Status.DIVERGED
    assert "stage text" in outcome.note
    assert {row["split"] for row in outcome.rows} == {"train"}
    assert outcome.rows[-1]["loss"] is None


def run_rows(case: Case) -> Iterator[dict[str, Any]]:
    """Holds: LISA solves more the more blocks it trains, and half of them about what full training
    does. Fails: the other way round, and far less."""
    accuracies = {"holds": (0.40, 0.44, 0.52), "fails": (0.20, 0.15, 0.05)}[case]
    level = dict(zip((0, *continual.GAMMAS), (0.45, *accuracies), strict=True))
    for params in continual.runs.params_of("cpu"):
        wobble = 0.005 * (int(params["seed"]) - 100) * (-1) ** int(params["gamma"])
        solved = level[int(params["gamma"])] + wobble
        both = {**params, "status": "done", "flexible_accuracy": solved}
        yield {**both, "stage": "text", "split": "validation", "step": 104, "loss": 3.0,
               "accuracy": None, "flexible_accuracy": None}  # fmt: skip
        for split in ("validation", "test"):
            yield {**both, "stage": "problems", "split": split, "step": 122,
                   "loss": 1.0 - solved, "accuracy": solved}  # fmt: skip


def memory_frame(case: Case) -> pd.DataFrame:
    """Holds: LISA takes 0.6 of full training. Fails: 0.8, and one parameter too many trains."""
    rows = []
    for params in continual.memory.params_of("cpu"):
        share = 1.0 if params["method"] == "full" else 0.6 if case == "holds" else 0.8
        values = dict.fromkeys(("weights_bytes", "gradients_bytes", "saved_bytes"), 100)
        off = 0 if case == "holds" else 1
        rows.append(
            {
                **params, "status": "done", **values, "moments_bytes": 200 + 100 * off,
                "num_params": 10, "num_trainable": 5 + off, "trainable_closed_form": 5,
                "total_bytes": int(1000 * share), "static_closed_form_bytes": 400,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def table_of(task: Task, case: Case) -> pd.DataFrame:
    return built(task.id, case).copy()


@cache
def built(name: str, case: Case) -> pd.DataFrame:
    (task,) = (task for task in TASKS if task.id == name)
    frames = {
        "lisa/continual": pd.DataFrame(run_rows(case)),
        "lisa/continual_memory": memory_frame(case),
    }
    return build_table(task, {e.id: frames[e.id] for e in task.reads})


def one_seed(case: Case = "holds") -> pd.DataFrame:
    table = table_of(TASKS[1], case)
    return table[table["seed"] == 100]


def test_lead_is_in_shares_of_test_problems_and_a_diverged_run_solves_none() -> None:
    assert lead(one_seed(), gamma=4) == pytest.approx(0.52 - 0.45)
    gone = one_seed().assign(accuracy=lambda t: t["accuracy"].where(t["gamma"] != 4))
    assert lead(gone, gamma=4) == pytest.approx(-0.45)


def test_rank_correlation_is_scipy_s_with_ties() -> None:
    drawn, whole = random.Random(0), one_seed()
    for _ in range(5):
        table = whole.copy()
        solved = {gamma: drawn.choice((0.1, 0.2, 0.3)) for gamma in continual.GAMMAS}
        if len(set(solved.values())) == 1:
            continue
        lisa = table["method"] == "lisa"
        table.loc[lisa, "accuracy"] = table.loc[lisa, "gamma"].map(solved).astype(float)
        expected = spearmanr(list(solved), list(solved.values())).statistic
        assert rank_correlation(table) == pytest.approx(expected)
    with pytest.raises(InvalidQuantity, match="no order"):
        rank_correlation(one_seed().assign(accuracy=0.5))


def pilot_frame() -> pd.DataFrame:
    """Return pilots that solve most at 1e-3, and as much of the test split as of validation."""
    rows = []
    for params in continual.pilots.params_of("cpu"):
        solved = 0.5 if params["lr"] == 1e-3 else 0.4
        both = {**params, "status": "done", "stage": "problems", "step": 520}
        for split in ("validation", "test"):
            rows.append({**both, "split": split, "loss": 1.0 - solved, "accuracy": solved,
                         "flexible_accuracy": solved})  # fmt: skip
    return pd.DataFrame(rows)


def chosen(frame: pd.DataFrame) -> dict[int, float]:
    table = pilot_rows({"lisa/pilot_continual": frame}).query("chosen")
    return table.groupby("gamma")["lr"].unique().map(lambda rates: rates.item()).to_dict()


def test_rate_is_chosen_on_validation_problems_and_test_problems_do_not_count() -> None:
    frame, usual = pilot_frame(), dict.fromkeys((0, *continual.GAMMAS), 1e-3)
    assert chosen(frame) == usual
    test = frame["split"] == "test"
    frame.loc[test & (frame["lr"] == 3e-3), "accuracy"] = 1.0
    assert chosen(frame) == usual
    frame.loc[~test & (frame["lr"] == 3e-3) & (frame["gamma"] == 2), "accuracy"] = 0.9
    assert chosen(frame) == usual | {2: 3e-3}


def test_at_equal_accuracy_the_lower_loss_is_chosen_and_a_diverged_rate_is_not() -> None:
    frame = pilot_frame()
    frame["accuracy"] = 0.0
    frame.loc[frame["lr"] == 3e-3, "loss"] = 0.1
    assert set(chosen(frame).values()) == {3e-3}
    gone = (frame["lr"] == 3e-3) & (frame["seed"] == frame["seed"].max())
    frame.loc[gone, ["split", "accuracy"]] = ["train", None]
    assert set(chosen(frame).values()) == {1e-3}
