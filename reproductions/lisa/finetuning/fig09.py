"""Figures 9 and 10, Tables 6, 7 and 12: periods and seeds of layers, at one learning rate."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Tables
from reproductions.lisa.finetuning.claims import LISA, LORA, in_house
from reproductions.lisa.finetuning.experiment import FIXED_LR, GAMMA, NUM_STEPS, PERIOD, experiment
from reproductions.lisa.finetuning.quantities import (
    Chosen,
    difference,
    distance_in_spreads,
    gap_minus_spread,
    layer_spread,
    least_lead,
)
from reproductions.lisa.finetuning.table import (
    CURVE_COLUMNS,
    FINAL_COLUMNS,
    at_rate,
    finals,
    select,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

TWO: Chosen = {**LISA, "gamma": GAMMA}
EIGHT: Chosen = {**LISA, "gamma": 8}
CAPTION = f"All at one learning rate, {FIXED_LR:g}, as in the paper. In-house model on Alpaca."
FIX = {**TWO, "period": NUM_STEPS}


def curve_view(frames: Tables, *, column: str, value: int) -> pd.DataFrame:
    """Return training curves of two blocks at one rate, where a column has a value."""
    rows = at_rate(frames[experiment.id], FIXED_LR, gammas=(GAMMA,))
    rows = rows[(rows[column] == value) & (rows["split"] == "train")]
    return rows[list(CURVE_COLUMNS.names)]


def seeds_view(frames: Tables) -> pd.DataFrame:
    """Return what LISA came to at one rate with all seeds of layers, and LoRA at its best rate."""
    import pandas as pd

    lora = finals(select(frames[experiment.id], methods=("lora",)))
    lisa = final_view(frames, gammas=(GAMMA,))
    return pd.concat([lora[lora["chosen"]], lisa[lisa["period"] == PERIOD]])


def final_view(frames: Tables, *, gammas: tuple[int, ...]) -> pd.DataFrame:
    """Return what LISA's runs at one rate came to."""
    return at_rate(finals(frames[experiment.id]), FIXED_LR, gammas=gammas)


def draw_curves(context: FigureContext, *, column: str, label: str) -> Figure:
    """Draw one line a value of a column."""
    from reproductions.lisa.finetuning.figures import by_column, curve_panels

    lines = by_column(context.table, column, label)
    return curve_panels(context, [("LISA, gamma 2", lines)], split="train")


def draw_ends(context: FigureContext) -> Figure:
    """Draw the runs of each number of blocks and period."""
    from reproductions.lisa.finetuning.figures import end_points

    groups = [
        (f"gamma {gamma}\nK {period}" if method == "lisa" else "LoRA\n(best rate)", rows)
        for (method, gamma, period), rows in context.table.groupby(["method", "gamma", "period"])
    ]
    return end_points(context, groups, value="test_loss", label="held-out loss (nats a token)")


fig09 = old_task(
    id="lisa/fig09",
    title="Training loss by the sampling period",
    reads=(experiment,),
    columns=CURVE_COLUMNS,
    view=partial(curve_view, column="layer_seed", value=0),
    figure=partial(draw_curves, column="period", label="K ="),
    caption=f"LISA with two blocks, redrawn every K steps; means over 13 steps. {CAPTION}"
    " Lines: mean over seeds; bars: standard error. Its claims stand at Table 6, which has the"
    " losses on one held-out split.",
    alt="Training loss against steps, one line a sampling period.",
)
fig10 = old_task(
    id="lisa/fig10",
    title="Training loss by the seed of the layers",
    reads=(experiment,),
    columns=CURVE_COLUMNS,
    claims=(
        in_house(
            "layer_seeds_converge_alike",
            "The final smoothed training losses of three seeds of the layers range over at most 3 %"
            " of the fall since the first step.",
            where="Figure 10",
            quantity=partial(layer_spread, chosen=LISA),
            bound=0.03,
            unit="share",
        ),
    ),
    view=partial(curve_view, column="period", value=PERIOD),
    figure=partial(draw_curves, column="layer_seed", label="layer seed"),
    caption=f"LISA with two blocks and K = 13; means over 13 steps. {CAPTION} Lines: mean over"
    " training seeds; bars: standard error.",
    alt="Training loss against steps, one line a seed of the layers; the lines lie together.",
)
tab06 = old_task(
    id="lisa/tab06",
    title="Number of blocks and sampling period",
    reads=(experiment,),
    columns=FINAL_COLUMNS,
    claims=(
        in_house(
            "more_blocks_are_better",
            "At K = 5 the held-out loss with eight blocks, all of ours, is at most that with two.",
            where="Table 6",
            quantity=partial(
                difference,
                one={**EIGHT, "period": 5},
                other={**TWO, "period": 5},
                value="test_loss",
            ),
            bound=0.0,
        ),
        in_house(
            "one_draw_is_worst",
            "Of the paper's five settings the one that draws its two blocks once, over three seeds"
            " of the layers, has the highest held-out loss (lead over the next).",
            where="Table 6",
            form="at_least",
            quantity=partial(
                least_lead,
                worst=FIX,
                others=[
                    {**EIGHT, "period": 1},
                    {**EIGHT, "period": 5},
                    {**TWO, "period": 5},
                    {**TWO, "period": 25},
                ],
            ),
            bound=0.0,
        ),
        in_house(
            "periods_13_and_25_alike",
            "The held-out losses of K = 13 and K = 25 differ by at most twice the standard"
            " deviation over seeds of the layers.",
            where="Figure 9",
            quantity=partial(
                distance_in_spreads,
                one={**TWO, "period": PERIOD},
                other={**TWO, "period": 25},
            ),
            bound=2.0,
            unit="deviations",
        ),
        in_house(
            "period_13_no_worse_than_one_draw",
            "With K = 13 the held-out loss is at most that with blocks drawn once.",
            where="Figure 9",
            quantity=partial(
                difference, one={**TWO, "period": PERIOD}, other=FIX, value="test_loss"
            ),
            bound=0.0,
        ),
    ),
    view=partial(final_view, gammas=(GAMMA, 8)),
    figure=draw_ends,
    caption=f"Held-out loss of LISA by numbers of blocks and period. {CAPTION} Dots: runs, over"
    " seeds and seeds of layers; lines: their mean. The paper has MT-Bench scores here.",
    alt="Held-out loss of single runs for several numbers of blocks and sampling periods.",
)
tab07 = old_task(
    id="lisa/tab07",
    title="Three seeds of the layers",
    reads=(experiment,),
    columns=FINAL_COLUMNS,
    claims=(
        in_house(
            "seed_spread_below_gap",
            "LISA's held-out losses range over less, from seed to seed of the layers, than LISA"
            " lies below LoRA (gap minus range).",
            where="Table 7",
            form="at_least",
            quantity=partial(gap_minus_spread, chosen=LISA, other=LORA),
            bound=0.0,
        ),
    ),
    view=seeds_view,
    figure=draw_ends,
    caption=f"Held-out loss of LISA with two blocks and K = 13 at the learning rate {FIXED_LR:g},"
    " over three seeds of the layers, and of LoRA at its best rate. In-house model on Alpaca."
    " Dots: runs, over seeds and seeds of layers; lines: their mean. The paper has MT-Bench scores"
    " here.",
    alt="Held-out loss of single runs of LoRA and of LISA over seeds.",
)
tab12 = old_task(
    id="lisa/tab12",
    title="Layers drawn anew against layers drawn once",
    reads=(experiment,),
    columns=FINAL_COLUMNS,
    claims=(
        in_house(
            "drawing_anew_is_no_worse",
            "Over three seeds of the layers the mean held-out loss of LISA is at most that of"
            " layers drawn once.",
            where="Table 12",
            quantity=partial(
                difference, one={**TWO, "period": PERIOD}, other=FIX, value="test_loss"
            ),
            bound=0.0,
        ),
    ),
    view=partial(final_view, gammas=(GAMMA,)),
    figure=draw_ends,
    caption=f"Held-out loss of LISA with two blocks by period; K = 122 draws once. {CAPTION} Dots:"
    " runs, over seeds and seeds of layers; lines: their mean. The paper has MT-Bench scores here.",
    alt="Held-out loss of single runs with layers drawn every few steps, or once.",
)
tasks = (fig09, fig10, tab06, tab07, tab12)
