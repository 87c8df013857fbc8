"""Tables 10, 11 and 16: runs over all learning rates, and which rate is best."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Tables
from reproductions.lisa.claims import ON_A_CPU, exact
from reproductions.lisa.finetuning.claims import LISA, in_house
from reproductions.lisa.finetuning.experiment import GAMMA, LRS, PERIOD, experiment, staged
from reproductions.lisa.finetuning.quantities import Chosen, difference, outside_grid, rate_steps
from reproductions.lisa.finetuning.table import FINAL_COLUMNS, finals, select

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

BEST: Chosen = {"chosen": True}
GAMMAS = (0, 2, 4, 8)
CAPTION = "In-house model on Alpaca; the paper has {} here."
DOTS = "Dots: runs, one a seed; lines: their mean."
HELD_OUT = "held-out loss (nats a token)"


def view(
    frames: Tables,
    *,
    methods: tuple[str, ...],
    gammas: tuple[int, ...] = (GAMMA,),
    best: bool = False,
) -> pd.DataFrame:
    """Return what runs with K = 13 came to; `best`: at their chosen rates alone."""
    import pandas as pd

    parts = [select(frames[experiment.id], methods=methods, gammas=gammas, periods=(PERIOD,))]
    if staged.id in frames and len(frames[staged.id]):
        parts.append(frames[staged.id])
    table = pd.concat([finals(part) for part in parts])
    return table[table["chosen"]] if best else table


def draw_methods(context: FigureContext, *, value: str, label: str) -> Figure:
    """Draw the runs of each method."""
    from reproductions.lisa.finetuning.figures import METHODS, end_points

    groups = [
        (METHODS[method] if method != "lisa" else f"LISA\ngamma {gamma}", rows)
        for (method, gamma), rows in context.table.groupby(["method", "gamma"])
    ]
    return end_points(context, groups, value=value, label=label)


def draw_rates(context: FigureContext, *, column: str) -> Figure:
    """Draw the loss against the learning rate, one line a number of blocks or a method."""
    from reproductions.lisa.finetuning.figures import by_column, by_method, rate_lines

    table = context.table[context.table["model"] == context.table["model"].iloc[0]]
    lines = by_method(table) if column == "method" else by_column(table, column, column)
    return rate_lines(context, lines)


tab10 = old_task(
    id="lisa/tab10",
    title="LISA without sampled blocks",
    reads=(experiment,),
    columns=FINAL_COLUMNS,
    claims=(
        in_house(
            "blocks_help",
            "With two blocks the held-out loss is at most that of embeddings, head and final norm"
            " alone, each at its best rate.",
            where="Table 10",
            quantity=partial(
                difference,
                one={**LISA, "gamma": GAMMA},
                other={**LISA, "gamma": 0},
                value="test_loss",
            ),
            bound=0.0,
        ),
    ),
    view=partial(view, methods=("lisa",), gammas=(0, GAMMA), best=True),
    figure=partial(draw_methods, value="test_loss", label=HELD_OUT),
    caption=f"Held-out loss at the best rate. {CAPTION.format('MT-Bench scores')} {DOTS}",
    alt="Held-out loss of single runs of LISA without blocks and with two.",
)
tab11 = old_task(
    id="lisa/tab11",
    title="Number of blocks against learning rate",
    reads=(experiment,),
    columns=FINAL_COLUMNS,
    claims=(
        in_house(
            "best_rate_falls_with_gamma",
            "The more blocks train at once, the lower is the rate of least held-out loss, or equal"
            " (of 2, 4 and 8 blocks; by the parabola through the grid's best points).",
            where="Table 11",
            form="monotone",
            quantity=partial(rate_steps, gammas=(2, 4, 8), chosen=LISA),
            bound=0.0,
            unit="factors of 2",
        ),
    ),
    view=partial(view, methods=("lisa",), gammas=GAMMAS),
    figure=partial(draw_rates, column="gamma"),
    caption=f"Held-out loss against the learning rate. {CAPTION.format('GSM8K accuracies')}"
    " Lines: mean over seeds; bars: standard error.",
    alt="Held-out loss against learning rate, one line a number of blocks.",
)
tab16 = old_task(
    id="lisa/tab16",
    title="Best learning rate by model and method",
    reads=(experiment, staged),
    columns=FINAL_COLUMNS,
    claims=(
        exact(
            "rates_are_of_the_grid",
            "One rate of the common grid is chosen for each model and method (how many are not).",
            where="Table 16",
            form="equal",
            quantity=partial(outside_grid, lrs=LRS),
            bound=0.0,
            unit="configurations",
            profiles=ON_A_CPU,
        ),
    ),
    view=partial(view, methods=("full", "lora", "galore", "cyclic", "lisa")),
    figure=partial(draw_rates, column="method"),
    caption="Held-out loss of the in-house model against the learning rate: every method has the"
    " same five candidates, and is given the one with the least loss on another split. Lines: mean"
    " over seeds; bars: standard error.",
    alt="Held-out loss against learning rate, one line a method.",
)
tasks = (tab10, tab11, tab16)
