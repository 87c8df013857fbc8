"""Figure 10: deep nets at equal hidden weights, all with the dense net's hyperparameters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import flat_claim, old_task
from harness.declare.profiles import PROFILES
from harness.declare.table import Column, Table
from reproductions.supar.models.claims import NAMES, OURS, dense_is_identical, ours
from reproductions.supar.models.costs import train_flops
from reproductions.supar.models.optima import flops_to_dense, losses_at
from reproductions.supar.models.tables import DENSITY, SCHEME, WIDTH, run_table
from reproductions.supar.models.tables import TRAINED as TRAINED_COLUMNS
from reproductions.supar.transfer.fixed_hyperparameters import experiment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

WHERE = "Figure 10 and section 4.2"
SPARSE = {"half": 0.5, "quarter": 0.25, "eighth": 0.125}

COLUMNS = Table(
    (
        SCHEME,
        DENSITY,
        WIDTH,
        Column(name="lr", type="float", role="value", doc="Peak base learning rate, not tuned."),
        *TRAINED_COLUMNS,
        Column(
            name="train_flops",
            type="float",
            role="value",
            doc="Operations of the training run if masked weights cost none: hidden matrices times"
            " density; attention and unembedding as they are.",
        ),
    )
)


def _better(scheme: str, word: str) -> Claim:
    return ours(
        f"supar_below_{scheme}_{word}",
        f"With the dense net's hyperparameters, SμPar's loss at density {SPARSE[word]:g} is at most"
        f" that of {NAMES[scheme]}.",
        form="ordering",
        where=WHERE,
        quantity=partial(
            losses_at, schemes=("supar", scheme), density=SPARSE[word], value="train_loss"
        ),
        bound=0.0,
        unit="nats",
    )


CLAIMS = (
    dense_is_identical("seed", x="lr"),
    *(_better("mup", word) for word in SPARSE),
    *(_better("sp", word) for word in SPARSE),
    flat_claim(
        id="not_iso_flop",
        statement="Equal weights are not equal work: the widest and sparsest net needs more"
        " training operations than the dense one, as attention and unembedding stay dense.",
        where="footnote 7" + OURS,
        form="at_least",
        grade="exact",
        quantity=flops_to_dense,
        threshold=1.0,
        threshold_from="theory",
        profiles=PROFILES,
        deterministic=True,
        unit="ratio",
    ),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return one row a run, with its training operations."""
    frame = frames[experiment.id]
    flops = [train_flops(params) for params in frame.to_dict("records")]
    return run_table(frame.assign(train_flops=flops), COLUMNS)


def draw(context: FigureContext) -> Figure:
    """Draw loss and training operations against the rungs of the ladder."""
    from reproductions.supar.models.loss_figures import ladder_panels

    return ladder_panels(context)


task = old_task(
    id="supar/fig10",
    title="Final loss at equal parameter counts with fixed hyperparameters",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Left: train loss (mean of the last tenth of the steps) of ten-layer nets of equal"
    " hidden weights, wider and sparser to the right, with the hyperparameters of the dense net:"
    " mean over seeds, bars show its standard error. Right: training operations of each net over"
    " those of the dense one, masked weights counted as free. The paper's curves are not published"
    " as numbers.",
    alt="Train loss of SP, μP and SμPar on four nets of equal weights and growing width, and the"
    " ratio of their training operations to the dense net's.",
)
