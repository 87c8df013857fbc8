"""The sign of a solution and the gradient of the loss there are almost orthogonal (App. D.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.old import old_task
from reproductions.asymvalley.models.scopes import trained
from reproductions.asymvalley.starts.quantities import largest_cosine
from reproductions.asymvalley.starts.table import SOLUTION_COLUMNS
from reproductions.asymvalley.trained_nets.experiment import experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

CLAIMS = (
    trained(
        "sign_orthogonal_to_gradient",
        "For every trained net, the cosine of sign(theta_f) and the gradient of the loss is below"
        " 0.1 in size.",
        form="at_most",
        where="Appendix D.1",
        quantity=largest_cosine,
        bound=0.1,
        unit="cosine",
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw cosine, test error and signs kept since the start, a row a solution."""
    from reproductions.asymvalley.starts.figures import solution_panels

    return solution_panels(context)


task = old_task(
    id="asymvalley/gradient",
    kind="ablation",
    title="The sign of a solution against the gradient, for every trained net",
    reads=(experiment,),
    columns=SOLUTION_COLUMNS,
    claims=CLAIMS,
    figure=draw,
    caption="Every net that this reproduction trains: net and data as the paper names them, then"
    " what differs from the base recipe and from BN weights of 1. Cosine of sign(theta_f) and the"
    " gradient of the loss (grey: where the claim has it), test error, and share of the parameters"
    " that still have the sign they started with. A mark a seed. The paper gives no number.",
    alt="Three dot plots beside one another, a row for each trained net: cosine with the gradient,"
    " test error, and share of signs kept.",
)
