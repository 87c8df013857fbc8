"""Tables of the fine-tuning runs: curves over steps, and what runs came to at their end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from harness.declare import Cell, Column, Frame, Line, Table, Tables, columns_of, param, value
from reproductions.lisa.finetuning.experiment import (
    DROPPED,
    LAYER_SEEDS,
    SETTINGS,
    WINDOW,
    Tune,
)
from reproductions.lisa.models.layouts import HELD_OUT
from reproductions.lisa.models.names import STAGED
from reproductions.lisa.models.rates import are_chosen
from reproductions.lisa.models.shapes import shape_of

KIND = ["model", "method", "gamma", "period", "policy", "outside"]
"""What tells settings apart, and has a learning rate of its own."""
LOSSES = {
    "train_loss": "Nats per answer token, mean of the last 13 batches before their steps.",
    "validation_loss": "On the split that rates are chosen by; empty where the run diverged.",
    "test_loss": "On the split that is reported.",
    "start_loss": "On the same split before fine-tuning.",
    "accuracy": "Share of test instructions whose answer is found among four; guessing scores"
    " 0.25.",
}
CONFIGURED = (
    *columns_of(Tune, "model"),
    param(
        "setting",
        str,
        "full, lora, galore, cyclic; lora_ends: with embeddings and head; LISA's usual one, or in"
        " what it differs.",
    ),
    *columns_of(Tune, "method", "rank", "gamma", "period", "policy", "lr", "layer_seed", "seed"),
)
CURVE: tuple[Column, ...] = (
    *CONFIGURED,
    param("split", str, "train, or test: held out."),
    param("step", int, "Step whose loss is taken before it (train), or steps done (test)."),
    value("loss", float, "Nats per answer token; empty where the run diverged.", nullable=True),
)
FINAL: tuple[Column, ...] = (
    *CONFIGURED,
    *(value(name, float, doc, nullable=name != "start_loss") for name, doc in LOSSES.items()),
)
CHOSEN = value("chosen", bool, "Whether this rate has its setting's least mean validation loss.")


def setting_of(model: str, method: str, gamma: int, period: int, policy: str, outside: bool) -> str:
    """Return the word for a setting.

    >>> setting_of("tiny-quality", "lisa", 2, 5, "drop_refrozen", False)
    'every_5'
    >>> setting_of("stories260k", "lisa", 1, 13, "drop_refrozen", False)
    'usual'
    """
    if method != "lisa":
        return "lora_ends" if outside else method
    if model in STAGED:
        return "usual"
    if gamma == shape_of(model).num_blocks:
        return "all_blocks"
    (name,) = (
        name
        for name, one in SETTINGS.items()
        if (one.method, one.gamma, one.period, one.policy) == ("lisa", gamma, period, policy)
    )
    return name


def chosen_rows(tables: Tables, settings: Sequence[str], layer_seeds: Sequence[int]) -> Frame:
    """Return the rows of some settings, in their order, of all experiments."""
    import pandas as pd

    frame = pd.concat([rows for rows in tables.values() if len(rows)], ignore_index=True)
    for name, usual in (("policy", DROPPED), ("outside", False)):
        # Rows of trials that have the usual value need not name it.
        told = frame[name] if name in frame else pd.Series(usual, index=frame.index)
        frame[name] = told.where(told.notna(), usual)
    kinds = frame[KIND].drop_duplicates()
    names = [setting_of(*kind) for kind in kinds.itertuples(index=False, name=None)]
    frame = frame.merge(kinds.assign(setting=names), on=KIND, how="left")
    frame = frame[frame["setting"].isin(settings) & frame["layer_seed"].isin(layer_seeds)]
    order = {name: place for place, name in enumerate(settings)}
    return frame.sort_values("setting", key=lambda column: column.map(order), kind="stable")


def curve_rows(
    tables: Tables, *, split: str, settings: Sequence[str], layer_seeds: Sequence[int]
) -> Frame:
    """Return one row per run and step of a split."""
    rows = chosen_rows(tables, settings, layer_seeds)
    return rows.loc[rows["split"] == split, [one.name for one in CURVE]]


def end_rows(tables: Tables, *, settings: Sequence[str], layer_seeds: Sequence[int]) -> Frame:
    """Return one row per run."""
    rows = chosen_rows(tables, settings, layer_seeds)
    return finals(rows, by=[*KIND[:1], "setting", "rank", *KIND[1:]])


def finals(frame: Frame, *, by: Sequence[str]) -> Frame:
    """Return one row per run of fine-tuning, from a long frame of one row per step and split.

    by: what has a rate of its own.
    """
    import pandas as pd

    keys = [*by, "lr", "layer_seed", "seed"]
    rows = []
    for values, run in frame.groupby(keys, sort=False):
        train, test, validation = (_of(run, split) for split in ("train", "test", "validation"))
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
    # A rate at which a run diverged is not chosen.
    losses = table["validation_loss"].astype(float).fillna(math.inf)
    return table.assign(chosen=are_chosen(table, by=by, least={"loss": losses}))


def _of(run: Frame, split: str) -> Frame:
    return run[run["split"] == split].sort_values("step", kind="stable")


def curves(split: str, *settings: str, layer_seeds: Sequence[int] = LAYER_SEEDS[:1]) -> Table:
    """Return the table of losses over steps on a split."""
    make = partial(curve_rows, split=split, settings=settings, layer_seeds=layer_seeds)
    return Table(CURVE, make)


def ends(*settings: str, layer_seeds: Sequence[int] = LAYER_SEEDS[:1]) -> Table:
    """Return the table of what runs came to at their end."""
    return Table(FINAL, partial(end_rows, settings=settings, layer_seeds=layer_seeds))


PILOTS = Table(
    (*FINAL, CHOSEN), partial(end_rows, settings=tuple(SETTINGS), layer_seeds=LAYER_SEEDS[:1])
)
LOSS = Cell("test_loss", unit="nats", digits=3)
"""What stands where the paper has scores of MT-Bench."""
BY_LAYER_SEED = tuple(
    Line(f"Seed {number + 1}", group=HELD_OUT, where={"layer_seed": number})
    for number in LAYER_SEEDS
)


def lines(*settings: str, group: str = "") -> tuple[Line, ...]:
    """Return a row per setting."""
    return tuple(
        Line(SETTINGS[name].head, group=group or SETTINGS[name].group, where={"setting": name})
        for name in settings
    )
