"""Figure 29: six metrics of softmax regression along raw and sign-consistent noise."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Column, Table
from reproductions.asymvalley.models.scopes import identity, trained
from reproductions.asymvalley.toys.quantities import (
    NO_GPU_GRID,
    ONE_SEED,
    TOY,
    TOY_EXACT,
    bracket_violation,
    largest_common_gap,
    share_of_lower_sides,
)
from reproductions.asymvalley.toys.softmax_noise import experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Figure 29 and appendix D.2"
NAMES = {
    "error": "error",
    "ce": "cross-entropy",
    "trace_p": "trace of diag(p) - p p^T",
    "trace_h": "trace of the Hessian",
}


def _value(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc)


COLUMNS = Table(
    (
        Column(name="seed", type="int", role="seed", doc="Draws the noise; the fit has no seed."),
        Column(
            name="sign_consistent",
            type="bool",
            role="param",
            doc="Whether the noise has the signs of the weights; the draw is the same.",
        ),
        Column(name="lambda", type="float", role="param", doc="Size of the noise."),
        _value("error", "Share of wrong classes on the training data, as in the listing."),
        _value("ce", "Mean cross-entropy, nats."),
        _value("trace_p", "Mean of sum_c p_c (1 - p_c)."),
        _value("trace_h", "Trace of the Hessian of the mean cross-entropy."),
        _value("first_order_eps", "Noise times gradient."),
        _value("second_order_eps", "Noise times Hessian times noise."),
        _value("first_order_weight", "Perturbed weights times gradient, as in the listing."),
        _value("second_order_weight", "Perturbed weights twice times Hessian, as in the listing."),
    )
)

CLAIMS = (
    identity(
        "gradient_brackets_loss",
        "From one size to the next the cross-entropy changes by no less than the slope before"
        " and no more than the slope after allow, as a convex loss must (largest violation).",
        where=WHERE,
        quantity=bracket_violation,
        expected=0.0,
        tolerance=1e-5,
        unit="nats",
        profiles=TOY_EXACT,
        out_of_profile=NO_GPU_GRID,
    ),
    *(
        trained(
            f"sign_{value}",
            f"Under sign-consistent noise the {name} is lower on the positive side, in at least"
            " four of five seeds (share of seeds; means over the sizes of a side).",
            form="at_least",
            where=WHERE,
            quantity=partial(share_of_lower_sides, value=value),
            bound=0.8,
            unit="share of seeds",
            deterministic=True,
            profiles=TOY,
            out_of_profile=ONE_SEED,
        )
        for value, name in NAMES.items()
    ),
    trained(
        "raw_not_one_sided",
        "Under raw noise none of the six metrics has one side more than 50 % above the other, the"
        " same side in all seeds (largest gap that all seeds share).",
        form="at_most",
        where=WHERE,
        quantity=largest_common_gap,
        bound=0.5,
        unit="relative gap",
        deterministic=True,
        profiles=TOY,
        out_of_profile=ONE_SEED,
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw the six metrics, raw and sign-consistent."""
    from reproductions.asymvalley.toys.figures import metric_panels

    return metric_panels(context)


task = old_task(
    id="asymvalley/fig29",
    title="Six metrics of softmax regression under noise",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    figure=draw,
    caption="Softmax regression on the digits along Gaussian noise that is not norm-scaled, against"
    " its size l: means over draws of the noise with their standard error. tr(P) is the mean of"
    " sum p (1 - p), tr(H) the trace of the Hessian. First and second order are taken along the"
    " noise, as in the paper's text, and along the perturbed weights, as in its listing. The"
    " paper's curves are not published as numbers.",
    alt="Eight panels of metrics against noise size: sign-consistent curves are low on the"
    " positive side and high on the negative one, raw curves nearly symmetric.",
)
