"""Figure 11: under SP, equal weights per neuron keep the best learning rate in place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import flat_claim, old_task
from harness.declare.table import Column, Table
from reproductions.supar.coordinates.quantities import STRICTLY
from reproductions.supar.models.claims import PAPER_ONLY, ours
from reproductions.supar.models.optima import optimum_range, within_rows
from reproductions.supar.models.tables import SWEEP_COLUMNS, run_table
from reproductions.supar.sweeps import iso_neuron, lr_sweep

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

WHERE = "Figure 11 and section 4.2"
COLUMNS = Table(
    (
        Column(
            name="ladder",
            type="str",
            role="param",
            doc="iso_neuron: width * density is constant; fixed_width: the sweep of Figure 6.",
        ),
        *SWEEP_COLUMNS.columns,
    )
)


def range_of(table: pd.DataFrame, *, ladder: str) -> float:
    """Return the range of SP's optima on one ladder, in octaves."""
    quantity = partial(optimum_range, scheme="sp")
    found = within_rows(table, column="ladder", value=ladder, quantity=quantity)
    assert isinstance(found, float)
    return found


def both_ranges(table: pd.DataFrame) -> list[float]:
    """Return the ranges at equal weights per neuron and at equal width, claimed to ascend."""
    return [range_of(table, ladder=ladder) for ladder in ("iso_neuron", "fixed_width")]


def outermost_in_band(table: pd.DataFrame) -> float:
    """Return how far SP's optima leave the band from 2^-7 to 2^-6, in octaves."""
    from reproductions.supar.models.optima import optimum

    rows = table[table["ladder"] == "iso_neuron"]
    optima = [optimum(rows, scheme="sp", density=float(d)) for d in rows["density"].unique()]
    return max(0.0, -7.0 - min(optima), max(optima) + 6.0)


CLAIMS = (
    ours(
        "sp_stays",
        "At equal weights per neuron, SP's optimal learning rates lie within one factor-2 step.",
        form="at_most",
        where=WHERE,
        quantity=partial(range_of, ladder="iso_neuron"),
        bound=1.0,
    ),
    ours(
        "less_than_at_fixed_width",
        "SP's optimal learning rates spread less at equal weights per neuron than at equal width"
        " over the same densities.",
        form="ordering",
        where=WHERE,
        quantity=both_ranges,
        bound=STRICTLY,
    ),
    flat_claim(
        id="between_2_to_minus_7_and_minus_6",
        statement="At equal weights per neuron, SP's optima lie between 2^-7 and 2^-6, to half a"
        " factor-2 step.",
        where="section 4.2",
        form="at_most",
        grade="empirical",
        quantity=outermost_in_band,
        threshold=0.5,
        threshold_from="paper",
        profiles=("paper",),
        out_of_profile=PAPER_ONLY,
        unit="octaves",
    ),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return both ladders of SP, one row a run, over the densities of the first."""
    import pandas as pd

    narrow = frames[iso_neuron.experiment.id].assign(ladder="iso_neuron")
    sweep = frames[lr_sweep.experiment.id].assign(ladder="fixed_width")
    sweep = sweep[(sweep["scheme"] == "sp") & sweep["density"].isin(narrow["density"].unique())]
    return run_table(pd.concat([narrow, sweep]), COLUMNS)


def draw(context: FigureContext) -> Figure:
    """Draw one panel a ladder."""
    from reproductions.supar.models.sweep_figures import two_ladder_panels

    return two_ladder_panels(context)


task = old_task(
    id="supar/fig11",
    title="Learning-rate sweeps of SP at equal weights per neuron",
    reads=(iso_neuron.experiment, lr_sweep.experiment),
    columns=COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Train loss (mean of the last tenth of the steps) of SP against the learning rate, one"
    " line a net. Left: width times density is constant. Right: the same densities at one width"
    " (Figure 6), where SP starts from half the standard deviation. Mean over seeds, bars show its"
    " standard error. A ring marks the least mean loss of each line, unless it lies at the line's"
    " end; the vertical line is that of the dense net. Steep ends are cut off. The paper's curves"
    " are not published as numbers.",
    alt="Two panels of SP's train loss against log2 learning rate, one line per density, for nets"
    " of equal weights per neuron and for nets of equal width.",
)
