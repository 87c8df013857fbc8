"""Figure 29: six metrics of softmax regression along raw and sign-consistent noise."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, at_most, claims, equal
from reproductions.asymvalley.models.scopes import TOY_ALONE, TOY_CHECK
from reproductions.asymvalley.toys import quantities as q
from reproductions.asymvalley.toys import table
from reproductions.asymvalley.toys.experiment import softmax_noises

NAMES = {
    "error": "error",
    "ce": "cross-entropy",
    "trace_p": "trace of diag(p) - p p^T",
    "trace_h": "trace of the Hessian",
}

task = Task(
    "asymvalley/fig29",
    reads=(softmax_noises,),
    table=table.METRICS,
    claims=claims(
        "Figure 29 and appendix D.2",
        (
            "gradient_brackets_loss",
            TOY_CHECK,
            equal(q.bracket_violation, 0, "nats", tolerance=1e-5),
            "From one size to the next the cross-entropy changes by no less than the slope before"
            " and no more than the slope after allow, as a convex loss must (largest violation).",
        ),
        *(
            (
                f"sign_{value}",
                TOY_ALONE,
                at_least(partial(q.share_of_lower_sides, value=value), 0.8, "share of seeds"),
                f"Under sign-consistent noise the {name} is lower on the positive side, in at least"
                " four of five seeds (share of seeds; means over the sizes of a side).",
            )
            for value, name in NAMES.items()
        ),
        (
            "raw_not_one_sided",
            TOY_ALONE,
            at_most(q.largest_common_gap, 0.5, "relative gap"),
            "Under raw noise none of the six metrics has one side more than 50 % above the other,"
            " the same side in all seeds (largest gap that all seeds share).",
        ),
    ),
    figure="figures:metric_panels",
    caption="Softmax regression on the digits along Gaussian noise that is not norm-scaled, against"
    " its size l: means over draws of the noise with their standard error. tr(P) is the mean of"
    " sum p (1 - p), tr(H) the trace of the Hessian. First and second order are taken along the"
    " noise, as in the paper's text, and along the perturbed weights, as in its listing. The"
    " paper's curves are not published as numbers.",
    alt="Eight panels of metrics against noise size: sign-consistent curves are low on the"
    " positive side and high on the negative one, raw curves nearly symmetric.",
)
