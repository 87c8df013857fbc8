"""The coordinate check module by module: gradients and updates too, which the paper does not plot.

Its bounds were set when Figure 5's means over the same modules were known.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import flat_claim, old_task
from harness.declare.statistics import MissingRows
from harness.declare.table import Column, Table
from reproductions.supar.coordinates.experiment import FRESH, experiment
from reproductions.supar.coordinates.quantities import by_density
from reproductions.supar.coordinates.table import BLOCK, BLOCKS, STEP, TOO_NARROW
from reproductions.supar.method.slopes import FLAT, log_slope
from reproductions.supar.models.claims import TRAINED
from reproductions.supar.models.tables import DENSITY, SCHEME, SEED, WIDTH

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

FIRST_STEP = {"grad_x_rms": 0, "delta_y_rms": 1}
"""Updates after which a size is judged: the earliest at which there is one."""
FALLING = 0.5
"""Least slope of an update's size over density that counts as falling under muP. An Adam step
moves every kept weight by the same lr, whatever the density. A change of the output by one masked
matrix then sums density * d inputs: in proportion to the density where their signs agree, to its
square root where they do not, and a change that comes from below passes at its square root. So
one matrix gives at least 0.5, and a block, two of them in series, at least 1."""

COLUMNS = Table(
    (
        SCHEME,
        DENSITY,
        WIDTH,
        SEED,
        STEP,
        BLOCK,
        Column(name="layer", type="str", role="param", doc="Name of the module in the net."),
        Column(
            name="mean_abs_activation",
            type="float",
            role="value",
            doc="Mean absolute output of the module before the residual sum.",
            nullable=True,
        ),
        Column(
            name="delta_y_rms",
            type="float",
            role="value",
            doc="RMS change of the module's output on one batch by the last update; empty at 0.",
            nullable=True,
        ),
        Column(
            name="grad_x_rms",
            type="float",
            role="value",
            doc="RMS gradient of the summed loss with respect to the module's input.",
            nullable=True,
        ),
    )
)


def steepest_slope(table: pd.DataFrame, *, scheme: str, block: str, value: str) -> float:
    """Return the largest slope without its sign over the layers of a kind."""
    return max(map(abs, _slopes(table, scheme=scheme, block=block, value=value)))


def least_slope(table: pd.DataFrame, *, scheme: str, block: str, value: str) -> float:
    """Return the least slope over the layers of a kind."""
    return min(_slopes(table, scheme=scheme, block=block, value=value))


def _slopes(table: pd.DataFrame, *, scheme: str, block: str, value: str) -> list[float]:
    """Return each layer's slope of log2 size against log2 density, at the size's first step."""
    rows = table[(table["scheme"] == scheme) & (table["block"] == block)]
    if rows.empty:
        raise MissingRows(f"the table has no rows of {scheme}, {block}")
    where = {"scheme": scheme, "block": block, "step": FIRST_STEP[value], "value": value}
    return [log_slope(by_density(part, **where)) for _, part in rows.groupby("layer", sort=True)]


def _stays(block: str, value: str) -> Claim:
    name, phrase = {
        "grad_x_rms": ("gradient", f"the gradient at the {BLOCKS[block]} input, before any update"),
        "delta_y_rms": ("update", f"the first update's change of the {BLOCKS[block]} output"),
    }[value]
    return flat_claim(
        id=f"{name}_supar_{block}",
        statement=f"Under SμPar, {phrase}, does not depend on density in any layer (RMS, log-log"
        f" slope at most {FLAT:.2f} either way).",
        where="Finding 1 and the feature-learning desiderata, section 3 (no plot); threshold:"
        " ours, a factor 2.5 over four halvings",
        form="at_most",
        grade="empirical",
        # The largest of several noisy slopes errs towards failing.
        quantity=partial(steepest_slope, scheme="supar", block=block, value=value),
        threshold=FLAT,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_NARROW,
        cohort=FRESH,
    )


def _falls(block: str) -> Claim:
    return flat_claim(
        id=f"update_mup_{block}",
        statement=f"Under μP, the first update changes the {BLOCKS[block]} output less at lower"
        f" density in every layer (RMS, log-log slope at least {FALLING:g}).",
        where="Finding 1, section 3 (no plot); threshold: ours, the least that theory allows one"
        " masked matrix",
        form="at_least",
        grade="empirical",
        quantity=partial(least_slope, scheme="mup", block=block, value="delta_y_rms"),
        threshold=FALLING,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_NARROW,
        cohort=FRESH,
    )


CLAIMS = (
    *(_stays(block, value) for value in FIRST_STEP for block in BLOCKS),
    *(_falls(block) for block in BLOCKS),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return the check as it was measured, one row a step and layer."""
    return frames[experiment.id][COLUMNS.names]


def draw(context: FigureContext) -> Figure:
    """Draw sizes as rows and schemes as columns, one line a layer."""
    from reproductions.supar.coordinates.figures import layer_panels

    return layer_panels(context, steps=FIRST_STEP)


task = old_task(
    id="supar/coordinates",
    kind="ablation",
    title="Coordinate check by layer: gradients and updates against density",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Beyond the paper: RMS of the gradient at each block's input before any update, and"
    " of the change of its output by the first update, against density, one line a layer: mean"
    " over seeds; bars show its standard error. Titles state the least and the largest log-log"
    " slope over layers, each a mean over seeds. The paper prints no such plot.",
    alt="Six panels, gradient and update by SP, μP and SμPar: root mean square against density"
    " on logarithmic axes, one line per attention and feed-forward layer.",
)
