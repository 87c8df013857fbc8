"""Claims on fine-tuning: where they hold, fail, or lack seeds; and how rates are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pandas as pd
import pytest

from harness.declare.statistics import MissingRows
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.lisa.finetuning import experiment as finetune
from reproductions.lisa.finetuning import (
    fig01,
    fig06,
    fig08,
    fig09,
    fig10,
    fig11,
    states,
    tab06,
    tab07,
    tab10,
    tab11,
    tab12,
    tab16,
)
from reproductions.lisa.finetuning.quantities import all_blocks_gap
from reproductions.lisa.finetuning.table import KIND, finals, setting_of
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.stand_ins import FIGURE_6
from tests.reproductions.lisa.made import Case
from tests.verdicts import claim_of, decide

TASKS = tuple(
    one.task
    for one in (
        fig01, fig06, fig08, fig09, fig10, fig11, states, tab06, tab07, tab10, tab11, tab12, tab16,
    )
)  # fmt: skip
PILOTS = (finetune.pilots, finetune.staged_pilots)
START, CHECKED = 6.0, (0, 1, 2, 61, 110, 122)
ENDS = {
    "full": 3.0, "lora": 4.2, "lora_ends": 4.0, "galore": 3.5, "cyclic": 3.5, "blocks_0": 3.9,
    "usual": 3.2, "blocks_4": 3.1, "all_blocks": 3.0, "every_step": 3.3, "every_5": 3.21,
    "every_25": 3.21, "once": 3.6, "keep_all": 3.2, "reset_all": 3.25,
}  # fmt: skip
REVERSED = {
    **ENDS, "lora": 3.6, "lora_ends": 3.6, "blocks_0": 3.1, "usual": 4.4, "blocks_4": 4.6,
    "all_blocks": 4.8, "every_5": 4.6, "every_25": 4.7, "once": 3.0, "keep_all": 3.0,
    "reset_all": 3.0,
}  # fmt: skip
"""LISA ends above LoRA, and the higher the more blocks train; one draw and other policies are
better."""
BEST = {"blocks_4": 1e-3, "all_blocks": 5e-4, "usual": 3e-3}
"""By number of blocks; elsewhere 1e-3."""


def name_of(point: Mapping[str, Any]) -> str:
    told = (point[name] for name in ("model", "method", "gamma", "period"))
    return setting_of(*told, point.get("policy", finetune.DROPPED), point.get("outside", False))


@cache
def frames(case: Case) -> dict[str, pd.DataFrame]:
    """The grids at cpu with plain losses; made once, to be copied before they are changed."""
    experiments = (finetune.runs, finetune.staged, finetune.rates, *PILOTS)
    return {
        one.id: pd.DataFrame(
            [
                {**point, "status": "done", **row}
                for point in one.params_of("cpu")
                for row in rows_of(point, case, swept=one is finetune.rates)
            ]
        )
        for one in experiments
    }


def rows_of(point: Mapping[str, Any], case: Case, *, swept: bool) -> list[dict[str, Any]]:
    end = final_loss(point, case, swept=swept)
    rows = [{"split": "validation", "step": 122, "loss": end, "accuracy": None}]
    for step in CHECKED:
        loss = START + (end - START) * step / 122
        if step != 0:
            rows.append({"split": "train", "step": step, "loss": loss, "accuracy": None})
        if step in (0, 61, 122):
            accuracy = 0.5 if step == 122 else None
            rows.append({"split": "test", "step": step, "loss": loss, "accuracy": accuracy})
    return rows


def final_loss(point: Mapping[str, Any], case: Case, *, swept: bool) -> float:
    good, name = case == "holds", name_of(point)
    end = (ENDS if good else REVERSED)[name] + 0.01 * (point["seed"] % 10)
    # Of seeds of the layers, among which every claim averages or looks for the range.
    end += point["layer_seed"] * (0.001 if good else 0.3)
    if not swept:
        return end
    best = (
        BEST[name] if good else BEST[{"usual": "all_blocks", "all_blocks": "usual"}.get(name, name)]
    )
    return end + 0.3 * abs(finetune.LRS.index(point["lr"]) - place_of(best))


def place_of(rate: float) -> float:
    return finetune.LRS.index(rate) if rate in finetune.LRS else 1.5


TASK_OF = {task.id: task for task in TASKS}


def table_of(task: Task, case: Case) -> pd.DataFrame:
    return made(task.id, case).copy()


@cache
def made(name: str, case: Case) -> pd.DataFrame:
    found = frames(case)
    table = build_table(TASK_OF[name], {one.id: found[one.id] for one in TASK_OF[name].reads})
    if name == "lisa/tab16":
        # What is declared is what these pilots choose, or not.
        other = 2e-3 if case == "fails" else 1.0
        return table.assign(lr=[tab16.DECLARED[kind] * other for kind in kinds(table)], chosen=True)
    return table


def kinds(table: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(table["model"], table["setting"], strict=True))


def test_settings_that_differ_in_one_thing_are_told_apart() -> None:
    table = build_table(states.task, {finetune.runs.id: frames("holds")[finetune.runs.id]})
    assert table.groupby("setting").size().to_dict() == {
        "usual": 10, "keep_all": 10, "reset_all": 10,
    }  # fmt: skip
    names = [name_of(point) for point in finetune.runs.params_of("cpu")]
    assert set(names) == set(finetune.SETTINGS)
    small = [name_of(point) for point in finetune.runs.params_of("smoke")]
    assert len(set(small)) == len(small)


def test_lora_holds_no_more_than_lisa_beside_it() -> None:
    def held(name: str, more: int = 0) -> int:
        point = finetune.tuned(name, lr=1e-3, seed=0)
        return shape_of(point.model).static_bytes(
            point.method, rank=point.rank + more, gamma=point.gamma, outside=point.outside,
            embeddings=False, dtype="float32",
        )  # fmt: skip

    for name in ("lora", "lora_ends"):
        assert held(name) <= held("usual") < held(name, more=1)


def test_the_rate_is_chosen_by_validation_alone_over_all_seeds() -> None:
    frame = frames("holds")[finetune.rates.id]
    frame = frame[frame["gamma"] == 4].copy()
    best = finals(frame, by=KIND[:4])
    assert set(best.loc[best["chosen"], "lr"]) == {1e-3}
    # A lucky seed at another rate, and test losses that would choose it.
    first = frame["seed"].min()
    lucky = (frame["lr"] == 1e-4) & (frame["split"] == "validation") & (frame["seed"] == first)
    frame.loc[lucky, "loss"] = 2.5
    frame.loc[(frame["lr"] == 1e-4) & (frame["split"] == "test"), "loss"] = 0.1
    best = finals(frame, by=KIND[:4])
    assert set(best.loc[best["chosen"], "lr"]) == {1e-3}
    assert (best.groupby("lr")["chosen"].nunique() == 1).all()


def test_a_rate_that_diverged_at_one_seed_is_not_chosen() -> None:
    frame = frames("holds")[finetune.rates.id]
    frame = frame[frame["gamma"] == 4]
    best = (frame["lr"] == 1e-3) & (frame["seed"] == frame["seed"].max())
    ended = frame[~(best & ((frame["split"] == "validation") | (frame["step"] > 61)))]
    table = finals(ended, by=KIND[:4])
    chosen = set(table.loc[table["chosen"], "lr"])
    assert chosen
    assert 1e-3 not in chosen
    assert table.loc[table["lr"] == 1e-3, "test_loss"].isna().sum() == 1


def test_every_model_s_loss_and_every_later_draw_counts() -> None:
    (claim,) = fig06.task.claims
    table = table_of(fig06.task, "holds")
    for model, name in FIGURE_6.items():
        worse = (table["model"] == model) & (table["setting"] == "usual")
        verdict = decide(fig06.task, claim, table.assign(loss=table["loss"] + 5.0 * worse))
        assert (verdict.word, verdict.deciding) == (Word.CONTRADICTED, name)
    claim = claim_of(tab06.task, "one_draw_is_worst")
    table = table_of(tab06.task, "holds")
    for name in ("every_25", "every_5"):
        found = table.assign(test_loss=table["test_loss"] + 5.0 * (table["setting"] == name))
        assert decide(tab06.task, claim, found).word is Word.CONTRADICTED


def test_blocks_that_give_little_of_the_lead_are_seen_though_lisa_leads() -> None:
    (claim,) = fig01.task.claims
    table = table_of(fig01.task, "holds")
    control = table["setting"] == "blocks_0"
    assert set(table.loc[control, "gamma"]) == {0}
    near = table.assign(loss=table["loss"].mask(control, table["loss"] - 0.4))
    assert decide(fig01.task, claim, near).word is Word.CONTRADICTED


def test_nothing_is_judged_where_training_teaches_nothing() -> None:
    table = table_of(tab10.task, "holds")
    weak = table.assign(start_loss=table["test_loss"] + 0.1)
    assert {decide(tab10.task, claim, weak).word for claim in tab10.task.claims} == {Word.UNTESTED}


def test_all_blocks_are_compared_at_every_step() -> None:
    table = table_of(fig08.task, "holds")
    assert all_blocks_gap(table) == 0.0
    last = (table["setting"] == "full") & (table["step"] == 122) & (table["seed"] == 102)
    assert all_blocks_gap(table.assign(loss=table["loss"] + 0.5 * last)) == pytest.approx(0.5)
    with pytest.raises(MissingRows):
        all_blocks_gap(table[~last])
