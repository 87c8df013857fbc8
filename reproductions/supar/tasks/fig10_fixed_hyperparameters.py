"""Figure 10: deep nets at equal hidden weights, all with the dense net's hyperparameters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.claims import Claim
from harness.task import PROFILES, Column, Columns, Task
from reproductions.supar.costs import train_flops
from reproductions.supar.experiments.fixed_hyperparameters import experiment
from reproductions.supar.loss_quantities import (
    flops_to_dense,
    largest_dense_difference,
    losses_at,
)
from reproductions.supar.sweep_claims import NAMES, ON_A_CPU, OURS, TOO_SHORT, TRAINED
from reproductions.supar.views import DENSITY, SCHEME, WIDTH, run_table
from reproductions.supar.views import TRAINED as TRAINED_COLUMNS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.figures import FigureContext
    from harness.task import Frames

WHERE = "Figure 10 and section 4.2"
SPARSE = {"half": 0.5, "quarter": 0.25, "eighth": 0.125}

COLUMNS = Columns(
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
    return Claim(
        id=f"supar_below_{scheme}_{word}",
        statement=f"With the dense net's hyperparameters, SμPar's loss at density {SPARSE[word]:g}"
        f" is at most that of {NAMES[scheme]}.",
        where=WHERE,
        form="ordering",
        grade="empirical",
        quantity=partial(
            losses_at, schemes=("supar", scheme), density=SPARSE[word], value="train_loss"
        ),
        threshold=0.0,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_SHORT,
        unit="nats",
    )


CLAIMS = (
    Claim(
        id="dense_identical",
        statement="Dense, SμPar and μP are one model: equal losses at every seed.",
        where="Table 1 with m_rho = 1",
        form="equal",
        grade="exact",
        quantity=partial(largest_dense_difference, schemes=("supar", "mup"), x="lr"),
        threshold=0.0,
        threshold_from="theory",
        profiles=ON_A_CPU,
        out_of_profile="CUDA kernels add in no fixed order, so equality is not promised there",
        deterministic=True,
        unit="nats",
    ),
    *(_better("mup", word) for word in SPARSE),
    *(_better("sp", word) for word in SPARSE),
    Claim(
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


def view(frames: Frames) -> pd.DataFrame:
    """Return one row a run, with its training operations."""
    frame = frames[experiment.id]
    flops = [train_flops(params) for params in frame.to_dict("records")]
    return run_table(frame.assign(train_flops=flops), COLUMNS)


def draw(context: FigureContext) -> Figure:
    """Draw loss and training operations against the rungs of the ladder."""
    from reproductions.supar.loss_drawing import ladder_panels

    return ladder_panels(context)


task = Task(
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
