"""Tables of the fine-tuning runs: curves over steps, and what runs came to at their end.

A configuration is a model with a method, its number of blocks and its period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from harness.declare import Cell, Column, Line, Table, Tables, columns_of, param, value
from reproductions.lisa.finetuning.experiment import (
    FIXED_LR,
    GAMMA,
    PERIOD,
    PERIODS,
    SEEDS,
    WINDOW,
    Tune,
    runs,
    staged,
)
from reproductions.lisa.models.layouts import HELD_OUT
from reproductions.lisa.models.names import NO_BLOCKS
from reproductions.lisa.models.rates import CONFIGURATION, LOSSES, finals

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("full", "lora", "galore", "lisa")
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
    # That before training has every run.
    *(value(name, float, doc, nullable=name != "start_loss") for name, doc in LOSSES.items()),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """Which runs a table shows; the last fields but one choose among LISA's alone."""

    methods: tuple[str, ...] = METHODS
    """NO_BLOCKS stands for LISA with gamma 0, as a method of its own."""
    gammas: tuple[int, ...] = (GAMMA,)
    periods: tuple[int, ...] = (PERIOD,)
    layer_seeds: tuple[int, ...] = SEEDS[:1]
    rates: Literal["best", "all", "fixed"] = "best"
    """Each configuration at its chosen rate, at all, or at that of the ablations."""

    def frame(self, tables: Tables) -> pd.DataFrame:
        """Return the runs on our model and, where these are read, on the staged ones."""
        import pandas as pd

        own = tables[runs.id]
        lisa = own["method"] == "lisa"
        first = own["layer_seed"] == SEEDS[0]
        asked = own["gamma"].isin(self.gammas) & own["period"].isin(self.periods)
        kept = own["method"].isin(self.methods)
        parts = [own[kept & (~lisa | asked & own["layer_seed"].isin(self.layer_seeds))]]
        if NO_BLOCKS in self.methods:
            none = own[lisa & first & (own["gamma"] == 0) & (own["period"] == PERIOD)]
            parts.append(none.assign(method=NO_BLOCKS))
        if staged.id in tables and len(tables[staged.id]):
            others = tables[staged.id]
            parts.append(others[others["method"].isin(self.methods)])
        return pd.concat([part for part in parts if len(part)])

    def at_rates(self, rows: pd.DataFrame, chosen: pd.Series[bool]) -> pd.DataFrame:
        """Return the rows at the rates that are shown."""
        match self.rates:
            case "best":
                return rows[chosen]
            case "fixed":
                return rows[rows["lr"] == FIXED_LR]
        return rows


ALL_PERIODS = (PERIOD, *PERIODS)


def ablated(*gammas: int) -> Shown:
    """Return LISA by numbers of blocks, all periods and seeds of layers, at one rate."""
    return Shown(
        methods=("lisa",), gammas=gammas, periods=ALL_PERIODS, layer_seeds=SEEDS, rates="fixed"
    )


def curves(split: str, **told: Any) -> Table:
    """Return the table of losses over steps on a split; told: as of `Shown`."""
    return Table(CURVE, partial(curve_rows, split=split, shown=Shown(**told)))


def ends(*shown: Shown) -> Table:
    """Return the table of what runs came to at their end, one selection above the other."""
    return Table(FINAL, partial(end_rows, shown=shown))


def curve_rows(tables: Tables, *, split: str, shown: Shown) -> pd.DataFrame:
    """Return one row per run and step of a split."""
    frame = shown.frame(tables)
    rates = finals(frame, window=WINDOW).groupby([*CONFIGURATION, "lr"])["chosen"].first()
    chosen = frame.join(rates, on=[*CONFIGURATION, "lr"])["chosen"]
    rows = shown.at_rates(frame, chosen)
    return rows.loc[rows["split"] == split, [one.name for one in CURVE]]


def end_rows(tables: Tables, *, shown: Sequence[Shown]) -> pd.DataFrame:
    """Return one row per run."""
    import pandas as pd

    parts = []
    for each in shown:
        table = finals(each.frame(tables), window=WINDOW)
        parts.append(each.at_rates(table, table["chosen"]))
    return pd.concat(parts)


LOSS = Cell("test_loss", unit="nats", digits=3)
"""What stands where the paper has scores of MT-Bench."""
LAYER_SEEDS = tuple(
    Line(f"Seed {number + 1}", group=HELD_OUT, where={"layer_seed": number}) for number in SEEDS
)
