"""Figure 3: validation loss against density with hyperparameters transferred and not tuned."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import flat_claim, old_task
from harness.declare.table import Column, Table
from reproductions.supar.coordinates.quantities import STRICTLY
from reproductions.supar.models.claims import NAMES, PAPER_ONLY, dense_is_identical, ours
from reproductions.supar.models.optima import dense_and_sparse_gap, gap_at_lowest, losses_at
from reproductions.supar.models.points import CPU_DENSITIES
from reproductions.supar.models.printed import stated
from reproductions.supar.models.tables import DENSITY, SCHEME, WIDTH, run_table
from reproductions.supar.models.tables import TRAINED as TRAINED_COLUMNS
from reproductions.supar.transfer.experiment import experiment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

WHERE = "Figure 3 and section 4.3"
LOSS = "val_loss"
LOW_DENSITIES = {
    "eighth": 1 / 8,
    "sixteenth": 1 / 16,
    "32nd": 1 / 32,
    "64th": 1 / 64,
    "128th": 1 / 128,
}
STATED = {"sp": 0.119, "mup": 0.019}
"""At density 2^-7, abstract and section 1. Whether it is relative to SmuPar's loss or to the
other one is not said, so each has two claims."""

COLUMNS = Table(
    (
        SCHEME,
        DENSITY,
        WIDTH,
        Column(name="lr", type="float", role="value", doc="Peak base learning rate, not tuned."),
        *TRAINED_COLUMNS,
    )
)


def _ordered(word: str) -> Claim:
    return flat_claim(
        id=f"ordered_{word}",
        statement=f"At density 1/{1 / LOW_DENSITIES[word]:g} the validation loss of SμPar is at"
        " most that of μP, and that of μP at most that of standard parameterization.",
        where=WHERE,
        form="ordering",
        grade="empirical",
        quantity=partial(
            losses_at, schemes=("supar", "mup", "sp"), density=LOW_DENSITIES[word], value=LOSS
        ),
        threshold=0.0,
        threshold_from="theory",
        profiles=("cpu", "paper") if LOW_DENSITIES[word] in CPU_DENSITIES else ("paper",),
        out_of_profile="this profile's grid lacks a density, or is too short",
        unit="nats",
    )


def _grows(scheme: str) -> Claim:
    return ours(
        f"{scheme}_gap_grows",
        f"The relative gap of {NAMES[scheme]} to SμPar is larger at the lowest density than dense.",
        form="ordering",
        where=WHERE,
        quantity=partial(dense_and_sparse_gap, scheme=scheme, value=LOSS),
        bound=STRICTLY,
        unit="relative loss",
    )


def _as_stated(scheme: str, over: str) -> Claim:
    name = NAMES["supar" if over == "supar" else scheme]
    return flat_claim(
        id=f"{scheme}_gap_over_{over}_as_stated",
        statement=f"At the lowest density SμPar's validation loss is {STATED[scheme]:.1%} below"
        f" that of {NAMES[scheme]}, or more, relative to that of {name}.",
        where="abstract and section 1",
        form="at_least",
        grade="empirical",
        quantity=partial(gap_at_lowest, scheme=scheme, value=LOSS, over=over),
        threshold=STATED[scheme],
        threshold_from="paper",
        profiles=("paper",),
        out_of_profile=PAPER_ONLY,
        unit="relative loss",
        paper_value=partial(stated, y_name="mean_gap_at_lowest_density", series=scheme, scale=0.01),
    )


CLAIMS = (
    dense_is_identical("seed", x="lr"),
    *(_ordered(word) for word in LOW_DENSITIES),
    _grows("sp"),
    _grows("mup"),
    *(_as_stated(scheme, over) for scheme in STATED for over in ("supar", scheme)),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return one row a run."""
    return run_table(frames[experiment.id], COLUMNS)


def draw(context: FigureContext) -> Figure:
    """Draw our losses, and beside them readings of the paper's first version."""
    from reproductions.supar.models.loss_figures import transfer_panels

    return transfer_panels(context)


task = old_task(
    id="supar/fig03",
    title="Validation loss with transferred hyperparameters",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Left: validation loss against density, hyperparameters carried over and not tuned:"
    " mean over seeds, bars show its standard error. Right, hollow and dashed: readings of arXiv"
    " v1 Figure 3, whose SP curve the final paper replaced; model and data differ, so losses"
    " compare in order, not in level.",
    alt="Validation loss against density for SP, μP and SμPar, ours on the left, as read from the"
    " paper's first version on the right.",
)
