"""Figure 27: sign-consistent noise moves the input of a ReLU unit, before and after the ReLU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Column, Table
from reproductions.asymvalley.models.scopes import STRICTLY, identity, trained
from reproductions.asymvalley.toys.experiment import experiment
from reproductions.asymvalley.toys.quantities import (
    NO_GPU_GRID,
    ONE_SEED,
    TOY,
    TOY_EXACT,
    active_shares,
    mean_error,
    means,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.declare.claims import Claim
    from harness.publish.figures import FigureContext

WHERE = "Figure 27 and appendix D.2"


def _value(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc, nullable=True)


COLUMNS = Table(
    (
        Column(name="num_inputs", type="int", role="param", doc="Inputs of the unit, d."),
        Column(name="num_draws", type="int", role="param", doc="Draws of the weight, N."),
        Column(name="pull", type="float", role="param", doc="a of w = a h + delta."),
        Column(name="seed", type="int", role="seed", doc="Draws the input h and the weights."),
        Column(
            name="part",
            type="str",
            role="param",
            doc="summary: the whole sample; bin: one bin of its histogram.",
        ),
        Column(name="lambda", type="float", role="param", doc="l, the size of the noise."),
        Column(name="x", type="float", role="param", doc="Middle of the bin; 0 in a summary."),
        _value("mean", "Mean of (w + l sign(w))^T h."),
        _value("expected_mean", "The same in closed form."),
        _value("standard_error", "Standard error of the mean."),
        _value("active", "Share of draws with a positive pre-activation."),
        _value("mean_output", "Mean after the ReLU."),
        _value("density", "Share of draws in the bin, over its width."),
    )
)


def _more_active(id: str, size: float) -> Claim:
    return trained(
        id,
        f"The unit is active more often at l = +{size:g} than at l = -{size:g}.",
        form="ordering",
        where=WHERE,
        quantity=partial(active_shares, size=size),
        bound=STRICTLY,
        unit="share of draws",
        profiles=TOY,
        out_of_profile=ONE_SEED,
    )


CLAIMS = (
    identity(
        "mean_as_computed",
        "The mean pre-activation is sum_i h_i (a h_i + l (2 Phi(a h_i) - 1)) at every l (largest"
        " difference in standard errors of the mean, below 5).",
        where=WHERE,
        quantity=mean_error,
        expected=0.0,
        tolerance=5.0,
        unit="standard errors",
        profiles=TOY_EXACT,
        out_of_profile=NO_GPU_GRID,
    ),
    trained(
        "mean_rises",
        "The mean pre-activation rises with l, from -1 to 1.",
        form="monotone",
        where=WHERE,
        quantity=means,
        bound=STRICTLY,
        unit="pre-activation",
        profiles=TOY,
        out_of_profile=ONE_SEED,
    ),
    _more_active("active_half", 0.5),
    _more_active("active_one", 1.0),
)


def draw(context: FigureContext) -> Figure:
    """Draw the distributions before and after the ReLU."""
    from reproductions.asymvalley.toys.figures import unit_panels

    return unit_panels(context)


task = old_task(
    id="asymvalley/fig27",
    title="A simulated ReLU unit under sign-consistent noise",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    figure=draw,
    caption="Distribution of (w + l sign(w))^T h over draws of w = 0.1 h + delta, before the ReLU"
    " and after it, where what was below zero is the dot at zero, as high as if it filled one bin."
    " Last: the share that is active, which is larger at +a than at -a but falls slightly beyond"
    " l = 0. Histograms are means over seeds; bars of the share show the standard error over"
    " seeds, each with an input of its own. The number of inputs is ours; the paper's curves are"
    " not published as numbers.",
    alt="Three panels: histograms of a unit's input for five noise sizes moving right before and"
    " after the ReLU, and its activity against size.",
)
