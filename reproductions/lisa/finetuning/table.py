"""Tables of the fine-tuning runs: curves over steps, and what runs came to at their end.

A configuration is a model with a method, its number of blocks and its period.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare import Cell, Column, Line, Table, Tables, columns_of, param, value
from reproductions.lisa.finetuning.experiment import (
    FIXED_LR,
    GAMMA,
    PERIOD,
    SEEDS,
    WINDOW,
    Tune,
    runs,
    staged,
)
from reproductions.lisa.models.layouts import HELD_OUT
from reproductions.lisa.models.names import NO_BLOCKS

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("full", "lora", "galore", "lisa")
CONFIGURATION = ["model", "method", "gamma", "period"]
CONFIGURED = (
    *columns_of(Tune, "model"),
    param(
        "method",
        str,
        "full, lora, galore, cyclic or lisa; no_blocks: lisa with gamma 0, as its control.",
    ),
    *columns_of(Tune, "gamma", "period", "lr", "layer_seed", "seed"),
)
CURVE: tuple[Column, ...] = (
    *CONFIGURED,
    param("split", str, "train, or test: held out."),
    param("step", int, "Step whose loss is taken before it (train), or steps done (test)."),
    value("loss", float, "Nats per answer token; empty where the run diverged.", nullable=True),
)
FINAL: tuple[Column, ...] = (
    *CONFIGURED,
    value(
        "chosen",
        bool,
        "Whether this rate has the least validation loss of those its configuration has.",
    ),
    value(
        "train_loss",
        float,
        "Nats per answer token, mean of the last 13 batches before their steps.",
        nullable=True,
    ),
    value(
        "validation_loss",
        float,
        "On the split that rates are chosen by; empty where the run diverged.",
        nullable=True,
    ),
    value("test_loss", float, "On the split that is reported.", nullable=True),
    value("start_loss", float, "On the same split before fine-tuning."),
    value(
        "accuracy",
        float,
        "Share of test instructions whose answer is found among four; guessing scores 0.25.",
        nullable=True,
    ),
)


def best_curves(
    *, split: str, methods: tuple[str, ...] = METHODS, gammas: tuple[int, ...] = (GAMMA,)
) -> Table:
    """Return the table of losses over steps, each configuration at its chosen rate."""
    return Table(CURVE, partial(curve_rows, split=split, methods=methods, gammas=gammas))


def curves_at_one_rate(*, column: str, value: int) -> Table:
    """Return the table of LISA's training losses at one rate, where a column has a value."""
    return Table(CURVE, partial(one_rate_rows, column=column, value=value))


def ends(
    *, methods: tuple[str, ...], gammas: tuple[int, ...] = (GAMMA,), best: bool = False
) -> Table:
    """Return the table of what runs with K = 13 came to; `best`: at their chosen rates alone."""
    return Table(FINAL, partial(end_rows, methods=methods, gammas=gammas, best=best))


def ends_at_one_rate(*, gammas: tuple[int, ...]) -> Table:
    """Return the table of what LISA's runs at one rate came to."""
    return Table(FINAL, partial(ends_at_one_rate_rows, gammas=gammas))


def curve_rows(
    tables: Tables, *, split: str, methods: tuple[str, ...], gammas: tuple[int, ...]
) -> pd.DataFrame:
    """Return curves on our model and, where they are read, on the staged ones."""
    import pandas as pd

    parts = [select(tables[runs.id], methods=methods, gammas=gammas, periods=(PERIOD,))]
    if NO_BLOCKS in methods:
        parts.append(without_blocks(tables[runs.id]))
    if staged.id in tables and len(tables[staged.id]):
        parts.append(select(tables[staged.id], methods=methods))
    return pd.concat([curves(part, split=split) for part in parts if len(part)])


def one_rate_rows(tables: Tables, *, column: str, value: int) -> pd.DataFrame:
    """Return training curves of two blocks at one rate, where a column has a value."""
    rows = at_rate(tables[runs.id], FIXED_LR, gammas=(GAMMA,))
    rows = rows[(rows[column] == value) & (rows["split"] == "train")]
    return rows[[one.name for one in CURVE]]


def end_rows(
    tables: Tables, *, methods: tuple[str, ...], gammas: tuple[int, ...], best: bool
) -> pd.DataFrame:
    """Return what runs on our model, and where they are read on the staged ones, came to."""
    import pandas as pd

    parts = [select(tables[runs.id], methods=methods, gammas=gammas, periods=(PERIOD,))]
    if staged.id in tables and len(tables[staged.id]):
        parts.append(tables[staged.id])
    table = pd.concat([finals(part) for part in parts])
    return table[table["chosen"]] if best else table


def ends_at_one_rate_rows(tables: Tables, *, gammas: tuple[int, ...]) -> pd.DataFrame:
    """Return what LISA's runs at one rate came to."""
    return at_rate(finals(tables[runs.id]), FIXED_LR, gammas=gammas)


def layer_seed_rows(tables: Tables) -> pd.DataFrame:
    """Return what LISA came to at one rate with all seeds of layers; without blocks and LoRA at
    their best rates."""
    import pandas as pd

    others = [select(tables[runs.id], methods=("lora",)), without_blocks(tables[runs.id])]
    ended = [finals(part) for part in others if len(part)]
    lisa = ends_at_one_rate_rows(tables, gammas=(GAMMA,))
    return pd.concat([*(one[one["chosen"]] for one in ended), lisa[lisa["period"] == PERIOD]])


def finals(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run, from a long frame of one row per step and split."""
    import pandas as pd

    keys = [*CONFIGURATION, "lr", "layer_seed", "seed"]
    rows = []
    for values, run in frame.groupby(keys, sort=False):
        train = _of(run, "train")
        test, validation = _of(run, "test"), _of(run, "validation")
        ended = len(validation) == 1
        rows.append(
            {
                **dict(zip(keys, values, strict=True)),
                "train_loss": float(train["loss"].tail(WINDOW).mean()) if ended else None,
                "validation_loss": float(validation["loss"].iloc[0]) if ended else None,
                "test_loss": float(test["loss"].iloc[-1]) if ended else None,
                "start_loss": float(test["loss"].iloc[0]),
                "accuracy": float(test["accuracy"].iloc[-1]) if ended else None,
            }
        )
    table = pd.DataFrame(rows)
    table["chosen"] = table["lr"] == _best_lr(table)
    return table


def curves(frame: pd.DataFrame, *, split: str) -> pd.DataFrame:
    """Return the losses over steps of each configuration at its chosen rate."""
    keys = [*CONFIGURATION, "lr"]
    table = finals(frame)
    best = table.loc[table["chosen"], keys].drop_duplicates()
    rows = frame[frame["split"] == split].merge(best, on=keys)
    return rows[[one.name for one in CURVE]]


def select(
    frame: pd.DataFrame,
    *,
    methods: tuple[str, ...],
    gammas: tuple[int, ...] = (),
    periods: tuple[int, ...] = (),
) -> pd.DataFrame:
    """Return the rows of methods, and of LISA only those of some numbers of blocks and periods.

    Only the first seed of layers counts, which alone has all rates.
    """
    kept = frame["method"].isin(methods) & (frame["layer_seed"] == 0)
    lisa = frame["method"] == "lisa"
    if gammas:
        kept &= ~lisa | frame["gamma"].isin(gammas)
    if periods:
        kept &= ~lisa | frame["period"].isin(periods)
    return frame[kept]


def without_blocks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of LISA with gamma = 0, as a method of its own."""
    return select(frame, methods=("lisa",), gammas=(0,), periods=(PERIOD,)).assign(method=NO_BLOCKS)


def at_rate(frame: pd.DataFrame, lr: float, *, gammas: tuple[int, ...]) -> pd.DataFrame:
    """Return LISA's rows at one learning rate, of some numbers of blocks, all seeds of layers."""
    return frame[(frame["lr"] == lr) & (frame["method"] == "lisa") & frame["gamma"].isin(gammas)]


def _best_lr(table: pd.DataFrame) -> pd.Series[float]:
    """Return, row by row, the rate of the row's configuration with the least validation loss.

    The mean over all seeds counts; a rate at which a run diverged is not chosen.
    """
    losses = table.assign(loss=table["validation_loss"].fillna(float("inf")))
    means = losses.groupby([*CONFIGURATION, "lr"])["loss"].mean().reset_index()
    best = means.loc[means.groupby(CONFIGURATION)["loss"].idxmin()]
    return (
        table[CONFIGURATION].merge(best, on=CONFIGURATION, how="left")["lr"].set_axis(table.index)
    )


def _of(run: pd.DataFrame, split: str) -> pd.DataFrame:
    return run[run["split"] == split].sort_values("step", kind="stable")


LOSS = Cell("test_loss", unit="nats", digits=3)
"""What stands where the paper has scores of MT-Bench."""
LAYER_SEEDS = tuple(
    Line(f"Seed {number + 1}", group=HELD_OUT, where={"layer_seed": number}) for number in SEEDS
)
