"""From long frames to the tables of figures, where no committed table shows it.

`repro check --deep` makes those again.
"""

from __future__ import annotations

import pandas as pd
import pytest

from harness.store.table_csv import build_table
from tests.reproductions.supar.hand_made import sweep
from tests.reproductions.supar.test_claims import TASKS


def test_figure_12_takes_no_dense_runs_of_another_width() -> None:
    task = TASKS["supar/fig12"]
    frames = {
        experiment.id: pd.DataFrame(experiment.params_of("smoke")).assign(
            train_loss=1.0, val_loss=2.0, test_loss=3.0, clip_rate=0.5, status="done"
        )
        for experiment in task.reads
    }
    assert set(build_table(task, frames)["density"]) == {0.25, 1.0}
    frames["supar/lr_sweep"]["width"] = 4096
    assert set(build_table(task, frames)["density"]) == {0.25}


def test_a_diverged_run_stays_in_the_table_without_a_loss() -> None:
    frame = sweep(True).drop(columns="diverged").assign(status="done")
    frame.loc[0, ["train_loss", "val_loss", "test_loss"]] = float("nan")
    frame.loc[0, "status"] = "diverged"
    table = build_table(TASKS["supar/fig06"], {"supar/lr_sweep": frame})
    assert len(table) == len(frame)
    assert table["diverged"].tolist() == [True] + [False] * (len(frame) - 1)


def long_sweep(val_losses: dict[float, float], **other: float) -> pd.DataFrame:
    point = {"data": "kjv", "scheme": "sp", "density": 0.5, "width": 64, "seed": 0}
    point |= {"test_loss": 9.0, **other}
    return pd.DataFrame(
        {**point, "log2_lr": rate, "val_loss": loss, "train_loss": 10.0 * rate, "status": "done"}
        for rate, loss in val_losses.items()
    )


def test_the_rate_is_chosen_by_validation_loss_alone_and_marked_on_an_edge() -> None:
    nan = float("nan")
    for losses, chosen, on_edge in (
        # Train loss is least at -3: it must not choose.
        ({-3.0: 2.0, -2.0: 1.0, -1.0: 3.0}, -2.0, False),
        ({-3.0: 1.0, -2.0: 2.0}, -3.0, True),
        ({-3.0: 2.0, -2.0: 1.0}, -2.0, True),
        ({-3.0: nan, -2.0: nan}, nan, True),
    ):
        frame = long_sweep(losses)
        (row,) = build_table(TASKS["supar/fig08"], {"supar/lr_sweep": frame}).to_dict("records")
        found = (row["log2_lr"], row["train_loss"], row["on_edge"])
        assert found == pytest.approx((chosen, 10.0 * chosen, on_edge), nan_ok=True)
