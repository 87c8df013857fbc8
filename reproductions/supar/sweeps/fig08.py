"""Figure 8: loss against density when each scheme picks its best learning rate."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import flat_claim, old_task
from reproductions.supar.models.claims import NAMES, OURS, PAPER_ONLY, TRAINED
from reproductions.supar.models.optima import mean_gap
from reproductions.supar.models.printed import stated
from reproductions.supar.models.tables import BEST_COLUMNS, best_table
from reproductions.supar.sweeps.lr_sweep import experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext


def _gap(scheme: str, *, suffix: str, statement: str, densest: float, threshold: float) -> Claim:
    everything = densest == 1.0
    return flat_claim(
        id=f"{scheme}_gap{suffix}",
        statement=statement,
        where="Figure 8 and section 4.1" + OURS,
        form="at_least",
        grade="empirical",
        quantity=partial(mean_gap, scheme=scheme, densest=densest),
        threshold=threshold,
        threshold_from="theory",
        profiles=TRAINED,
        out_of_profile="20 steps and two densities do not rank schemes",
        unit="relative loss",
        paper_value=partial(stated, y_name="mean_gap", series=scheme, scale=0.01)
        if everything
        else None,
    )


def _claims_against(scheme: str, stated_gap: float) -> tuple[Claim, ...]:
    name = NAMES[scheme]
    return (
        _gap(
            scheme,
            suffix="",
            statement=f"Each at its best learning rate, SμPar's loss is on average over densities"
            f" at most 0.5 % above that of {name}.",
            densest=1.0,
            threshold=-0.005,
        ),
        _gap(
            scheme,
            suffix="_sparse",
            statement=f"The same without the dense point: SμPar at most 0.5 % above {name}.",
            densest=0.5,
            threshold=-0.005,
        ),
        _gap(
            scheme,
            suffix="_positive",
            statement=f"Each at its best learning rate, SμPar's loss is on average over densities"
            f" below that of {name}.",
            densest=1.0,
            threshold=0.0,
        ),
        _as_stated(scheme, stated_gap),
    )


def _as_stated(scheme: str, stated_gap: float) -> Claim:
    return flat_claim(
        id=f"{scheme}_gap_as_stated",
        statement=f"On average over densities SμPar's best loss is {stated_gap:.1%} below"
        f" that of {NAMES[scheme]}, or more.",
        where="section 4.1",
        form="at_least",
        grade="empirical",
        quantity=partial(mean_gap, scheme=scheme, densest=1.0),
        threshold=stated_gap,
        threshold_from="paper",
        profiles=("paper",),
        out_of_profile=PAPER_ONLY,
        unit="relative loss",
        paper_value=partial(stated, y_name="mean_gap", series=scheme, scale=0.01),
    )


CLAIMS = (*_claims_against("sp", 0.008), *_claims_against("mup", 0.021))


def draw(context: FigureContext) -> Figure:
    """Draw train and test loss against density, one line a scheme."""
    from reproductions.supar.models.loss_figures import best_loss_panels

    return best_loss_panels(context)


task = old_task(
    id="supar/fig08",
    title="Best loss against density: SP, μP, SμPar",
    reads=(experiment,),
    columns=BEST_COLUMNS,
    claims=CLAIMS,
    view=best_table,
    figure=draw,
    caption="Loss against density at the learning rate with the least validation loss, chosen per"
    " scheme, density and seed from equally many candidates: mean over seeds, bars show its"
    " standard error. Train loss is the paper's measure; test loss is on text that chose nothing."
    " Hollow and dashed: best losses among the readings of arXiv v1 Figure 1 (no μP there), on an"
    " axis of their own.",
    alt="Train loss and test loss against density for SP, μP and SμPar at their best learning"
    " rates, beside the best losses read from the paper's first version.",
)
