"""Figure 6: where the optimal learning rate lies, at every density, for three schemes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.claims import Claim
from harness.task import PROFILES, Task
from reproductions.supar.experiments.lr_sweep import experiment
from reproductions.supar.quantities import (
    STRICTLY,
    farthest_optimum,
    largest_dense_difference,
    optimum_shift,
    transfer_loss,
    transfer_losses,
)
from reproductions.supar.sweep_claims import TOO_SHORT, TRAINED, moves, stays
from reproductions.supar.views import SWEEP_COLUMNS, sweep_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.figures import FigureContext

PAPER_ONLY = "the number belongs to the paper's own model, data and densities"


def _transfer_is_dearer(scheme: str, name: str) -> Claim:
    return Claim(
        id=f"{scheme}_transfer_dearer",
        statement=f"At the lowest density, training at the dense model's best learning rate costs"
        f" more under {name} than under SμPar.",
        where="Figure 6, the vertical lines; threshold: ours, set before any run",
        form="ordering",
        grade="empirical",
        quantity=partial(transfer_losses, schemes=("supar", scheme)),
        threshold=STRICTLY,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_SHORT,
        unit="relative loss",
    )


FINDING_2 = "Figure 6 and section 4.1, Finding 2"

CLAIMS = (
    Claim(
        id="dense_identical",
        statement="Dense, SμPar and μP are one model: equal losses at every common learning rate"
        " and seed.",
        where="Table 1 with m_rho = 1",
        form="equal",
        grade="exact",
        quantity=partial(largest_dense_difference, schemes=("supar", "mup")),
        threshold=0.0,
        threshold_from="theory",
        profiles=PROFILES,
        deterministic=True,
        unit="nats",
    ),
    stays(FINDING_2),
    *moves("sp", "standard parameterization", FINDING_2),
    *moves("mup", "μP", FINDING_2),
    Claim(
        id="supar_transfer",
        statement="At the lowest density, SμPar at the dense model's best learning rate is within"
        " 1 % of its own best loss.",
        where="Figure 6, the vertical lines; threshold: ours, set before any run",
        form="at_most",
        grade="empirical",
        quantity=partial(transfer_loss, scheme="supar"),
        threshold=0.01,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile=TOO_SHORT,
        unit="relative loss",
    ),
    _transfer_is_dearer("sp", "standard parameterization"),
    _transfer_is_dearer("mup", "μP"),
    Claim(
        id="sp_moves_by_four",
        statement="Under standard parameterization the optimum rises by 4 octaves, to one"
        " factor-2 step, from dense to density 2^-6.",
        where="Figure 6, standard parameterization; read from the same panel in arXiv v1",
        form="within",
        grade="empirical",
        quantity=partial(optimum_shift, scheme="sp"),
        threshold=(3.0, 5.0),
        threshold_from="paper",
        profiles=("paper",),
        out_of_profile=PAPER_ONLY,
        unit="octaves",
    ),
    Claim(
        id="supar_near_2_to_minus_6",
        statement="Under SμPar the optimum lies near 2^-6, to one factor-2 step, at every density.",
        where="section 4.1",
        form="at_most",
        grade="empirical",
        quantity=partial(farthest_optimum, scheme="supar", log2_lr=-6.0),
        threshold=1.0,
        threshold_from="paper",
        profiles=("paper",),
        out_of_profile=PAPER_ONLY,
        unit="octaves",
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw one panel a scheme, ours above, readings of the paper's first version below."""
    from reproductions.supar.drawing import sweep_panels

    return sweep_panels(context, schemes=("sp", "mup", "supar"))


task = Task(
    id="supar/fig06",
    title="Optimal learning rate across sparsity: SP, μP, SμPar",
    reads=(experiment,),
    columns=SWEEP_COLUMNS,
    claims=CLAIMS,
    view=sweep_table,
    figure=draw,
    caption="Train loss (mean of the last tenth of the steps) against the peak base learning"
    " rate, one line a density: mean over seeds, bars show its standard error. A ring marks the"
    " least mean loss of each line, unless it lies at the line's end; the vertical line is that of"
    " the dense model. Losses over 22 % above the least are cut off. Diverged runs have no point:"
    " where some seeds diverged the others are shown, without a ring. Below, hollow and dashed:"
    " readings of the paper's arXiv v1 Figure 1, which has no μP panel; its model and tokens"
    " differ, so losses compare in shape, not in level.",
    alt="Three panels of train loss against log2 learning rate, one line per density, for SP, μP"
    " and SμPar, each with its optima marked; under them the same curves as read from the paper"
    " where they are known.",
)
