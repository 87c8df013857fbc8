"""The sign of a solution and the gradient of the loss there are almost orthogonal (App. D.1)."""

from __future__ import annotations

from harness.declare import Task, claims, within
from reproductions.asymvalley.models.scopes import EQUIVALENCE, TRAINED
from reproductions.asymvalley.trained_nets import quantities as q
from reproductions.asymvalley.trained_nets import table
from reproductions.asymvalley.trained_nets.experiment import nets

task = Task(
    "asymvalley/gradient",
    own_kind="ablation",
    reads=(nets,),
    table=table.NETS,
    claims=claims(
        "Appendix D.1",
        (
            "sign_orthogonal_to_gradient",
            TRAINED.without_null(EQUIVALENCE),
            within(q.cosines, -0.1, 0.1, "cosine"),
            "For every trained net the cosine of sign(theta_f) and the gradient of the loss is at"
            " most 0.1 in size. Whether the cosines of all nets lean to one side is not asked.",
        ),
    ),
    figure="figures:net_panels",
    caption="Every net that this reproduction trains: net and data, then what differs"
    " from the base recipe and from BN weights of 1. Cosine of sign(theta_f) and the"
    " gradient of the loss (grey: where the claim has it), test error, and share of the parameters"
    " that still have the sign they started with. A mark per seed. The paper gives no number.",
    alt="Three dot plots beside one another, a row for each trained net: cosine with the gradient,"
    " test error, and share of signs kept.",
)
