"""Tables of the fine-tuning runs: curves over steps, and what runs came to at their end.

A configuration is a model with a method, its number of blocks and its period.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import Column, Table

if TYPE_CHECKING:
    import pandas as pd

CONFIGURATION = ["model", "method", "gamma", "period"]
WINDOW = 13
"""Steps of a smoothed training loss: one period."""

_CONFIGURED = (
    Column(name="model", type="str", role="param", doc="What is fine-tuned."),
    Column(name="method", type="str", role="param", doc="full, lora, galore, cyclic or lisa."),
    Column(name="gamma", type="int", role="param", doc="Blocks trained at once by LISA; else 0."),
    Column(
        name="period", type="int", role="param",
        doc="Optimizer steps from draw to draw of blocks, K; 0 where none are drawn.",
    ),
    Column(name="lr", type="float", role="param", doc="Highest learning rate."),
    Column(name="layer_seed", type="int", role="param", doc="Of the draws of blocks."),
    Column(name="seed", type="int", role="seed", doc="Of batches and adapters."),
)  # fmt: skip
CURVE_COLUMNS = Table(
    (
        *_CONFIGURED,
        Column(name="split", type="str", role="param", doc="train, or test: held out."),
        Column(
            name="step", type="int", role="param",
            doc="Of train the step, whose loss is taken before it; of test the steps done.",
        ),
        Column(
            name="loss", type="float", role="value", nullable=True,
            doc="Nats an answer token; empty where the run diverged.",
        ),
    )
)  # fmt: skip
FINAL_COLUMNS = Table(
    (
        *_CONFIGURED,
        Column(
            name="chosen", type="bool", role="value",
            doc="Whether this rate has the least validation loss of those its configuration has.",
        ),
        Column(
            name="train_loss", type="float", role="value", nullable=True,
            doc="Nats an answer token, mean of the last 13 batches before their steps.",
        ),
        Column(
            name="validation_loss", type="float", role="value", nullable=True,
            doc="On the split that rates are chosen by; empty where the run diverged.",
        ),
        Column(
            name="test_loss", type="float", role="value", nullable=True,
            doc="On the split that is reported.",
        ),
        Column(
            name="start_loss", type="float", role="value",
            doc="On the same split before fine-tuning.",
        ),
        Column(
            name="accuracy", type="float", role="value", nullable=True,
            doc="Of choosing a test instruction's answer among four; guessing scores 0.25.",
        ),
    )
)  # fmt: skip


def finals(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row a run, from a long frame of one row a step and split."""
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
    return rows[list(CURVE_COLUMNS.names)]


def select(
    frame: pd.DataFrame,
    *,
    methods: tuple[str, ...],
    gammas: tuple[int, ...] = (),
    periods: tuple[int, ...] = (),
) -> pd.DataFrame:
    """Return the rows of methods, and of LISA only those of some numbers of blocks and periods.

    Of seeds of layers the first, which alone has all rates.
    """
    kept = frame["method"].isin(methods) & (frame["layer_seed"] == 0)
    lisa = frame["method"] == "lisa"
    if gammas:
        kept &= ~lisa | frame["gamma"].isin(gammas)
    if periods:
        kept &= ~lisa | frame["period"].isin(periods)
    return frame[kept]


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
