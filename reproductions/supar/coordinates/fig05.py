"""Figure 5: do activations keep their size as weights are removed? The coordinate check."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim, Quantity
from harness.declare.old import flat_claim, old_task
from harness.declare.table import Column, Table
from harness.provenance.cohorts import FIRST
from reproductions.supar.coordinates.experiment import FRESH, experiment
from reproductions.supar.coordinates.quantities import (
    STRICTLY,
    activation_slope,
    activation_slope_size,
    largest_to_smallest,
    rising_with_density,
    sparse_to_dense,
)
from reproductions.supar.coordinates.table import BLOCK, BLOCKS, STEP, TOO_NARROW
from reproductions.supar.models.claims import TRAINED
from reproductions.supar.models.tables import DENSITY, SCHEME, SEED, WIDTH

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

NAMES = {"sp": "standard parameterization", "mup": "μP", "supar": "SμPar"}
SIZES = {
    "delta_y_rms": ("update", "the change of the {} output by the first update"),
    "grad_x_rms": ("gradient", "the gradient with respect to the {} input, before any update"),
}
FIRST_STEP = {"delta_y_rms": 1, "grad_x_rms": 0}
LAST_STEP = 9

COLUMNS = Table(
    (
        SCHEME,
        DENSITY,
        WIDTH,
        SEED,
        STEP,
        BLOCK,
        Column(
            name="mean_abs_activation",
            type="float",
            role="value",
            doc="Mean absolute output of the block before the residual sum, mean over layers.",
            nullable=True,
        ),
        Column(
            name="delta_y_rms",
            type="float",
            role="value",
            doc="RMS change of the block's output on one batch by the last update; empty at 0.",
            nullable=True,
        ),
        Column(
            name="grad_x_rms",
            type="float",
            role="value",
            doc="RMS gradient of the loss with respect to the block's input.",
            nullable=True,
        ),
    )
)


def _slope(scheme: str, block: str) -> Claim:
    stable = scheme == "supar"
    function = activation_slope_size if stable else activation_slope
    name = NAMES[scheme]
    return _claim(
        id=f"slope_{scheme}_{block}",
        statement=f"At initialization, {BLOCKS[block]} activations under {name} "
        + (
            "do not depend on density (log-log slope at most 0.15)."
            if stable
            else "shrink in proportion to density (log-log slope 0.7 to 1.4)."
        ),
        item="a",
        quantity=partial(function, scheme=scheme, block=block, step=0),
        threshold=0.15 if stable else (0.7, 1.4),
        cohort=FRESH,
    )


def _after_training(scheme: str, block: str) -> Claim:
    stable = scheme == "supar"
    return _claim(
        id=f"after_{scheme}_{block}",
        statement=f"After nine updates under {NAMES[scheme]}, {BLOCKS[block]} activations at"
        " density 1/16 are "
        + ("within a factor 4 of the dense ones." if stable else "at most 0.1 of the dense ones."),
        item="b",
        quantity=partial(
            sparse_to_dense, scheme=scheme, block=block, step=LAST_STEP, density=0.0625
        ),
        threshold=(0.25, 4.0) if stable else (0.0, 0.1),
        ratio=True,
    )


def _size(scheme: str, block: str, value: str) -> Claim:
    word, phrase = SIZES[value]
    where = {"scheme": scheme, "block": block, "step": FIRST_STEP[value], "value": value}
    phrase = phrase.format(BLOCKS[block])
    if scheme == "supar":
        return _claim(
            id=f"{word}_{scheme}_{block}",
            statement=f"Under SμPar, {phrase}, stays within a factor 2.5 across densities.",
            item="c",
            quantity=partial(largest_to_smallest, **where),
            threshold=(0.0, 2.5),
            ratio=True,
        )
    return _claim(
        id=f"{word}_{scheme}_{block}",
        statement=f"Under {NAMES[scheme]}, {phrase}, falls with every step down in density.",
        item="c",
        quantity=partial(rising_with_density, **where),
        threshold=STRICTLY,
    )


def _claim(
    *,
    id: str,
    statement: str,
    item: str,
    quantity: Quantity,
    threshold: float | tuple[float, float],
    ratio: bool = False,
    cohort: str = FIRST,
) -> Claim:
    """Return an empirical claim of this figure; its form follows from the threshold."""
    pair = isinstance(threshold, tuple)
    rising = threshold == STRICTLY
    form = "ratio" if ratio else "within" if pair else "monotone" if rising else "at_most"
    places = {
        "a": "Figure 5, Finding 1",
        "b": "Figure 5, Finding 1",
        "c": "Finding 1 and the feature-learning desiderata, section 3 (no plot)",
    }
    return flat_claim(
        id=id,
        statement=statement,
        where=f"{places[item]}; threshold: ours, see DEV-17",
        form=form,
        grade="empirical",
        quantity=quantity,
        threshold=threshold,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_NARROW,
        cohort=cohort,
    )


CLAIMS = (
    *(_slope(scheme, block) for scheme in ("supar", "sp", "mup") for block in BLOCKS),
    *(_after_training(scheme, block) for scheme in ("supar", "sp", "mup") for block in BLOCKS),
    *(
        _size(scheme, block, value)
        for value in SIZES
        for scheme in ("supar", "mup")
        for block in BLOCKS
    ),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return the check of the three schemes, one row a step and block: means over layers."""
    frame = frames[experiment.id]
    columns = COLUMNS.names
    values = ["mean_abs_activation", "delta_y_rms", "grad_x_rms"]
    keys = [name for name in columns if name not in values]
    groups = frame[frame["scheme"].isin(tuple(NAMES))].groupby(keys, sort=False)
    # A layer without a value leaves its kind without one, where a plain mean would skip it.
    means = groups[values].agg(lambda sizes: sizes.mean(skipna=False))
    return means.reset_index()[columns]


def draw(context: FigureContext) -> Figure:
    """Draw blocks as rows and schemes as columns, one line a step."""
    from reproductions.supar.coordinates.figures import coordinate_panels

    return coordinate_panels(context)


task = old_task(
    id="supar/fig05",
    title="Coordinate check: activation size against density",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Mean absolute activation against density, one line a step from before training"
    " (t=0) to after nine updates (t=9): mean over seeds; bars, at t=0 and t=9, show its standard"
    " error. Each panel states the fitted log-log slope at t=0, with its 95 % interval."
    " Hollow and dashed: the plot shipped with the authors' code, a third party's reproduction"
    " and not the paper's figure.",
    alt="Six panels, attention and feed-forward by SP, μP and SμPar: mean absolute activation"
    " against density on logarithmic axes, one line per training step.",
)
