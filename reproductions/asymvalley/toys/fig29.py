"""Figure 29: six metrics of softmax regression along raw and sign-consistent noise."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, claims, equal, more_than, within
from reproductions.asymvalley.models.scopes import TOY, TOY_CHECK
from reproductions.asymvalley.toys import quantities as q
from reproductions.asymvalley.toys import table
from reproductions.asymvalley.toys.experiment import softmax_noises

NAMES = {
    "error": "error",
    "ce": "cross-entropy",
    "trace_p": "trace of diag(p) - p p^T",
    "trace_h": "trace of the Hessian",
}
UNITS = {"error": "error", "ce": "nats", "trace_p": "trace", "trace_h": "trace"}

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
            " and no more than the slope after allow, as a convex loss must.",
        ),
        *(
            (
                f"sign_{value}",
                TOY,
                more_than(partial(q.fall, value=value), 0, UNITS[value]),
                f"Under sign-consistent noise the {name} is lower on the positive side: its mean"
                " over the negative sizes exceeds that over the positive ones.",
            )
            for value, name in NAMES.items()
        ),
        (
            "raw_not_one_sided",
            TOY,
            within(q.raw_gaps, -0.5, 0.5, "relative gap")
            .naming(*NAMES.values(), "first order", "second order")
            .measuring("positive side less negative side, over the smaller of both"),
            "Under raw noise none of the six metrics has one side more than 50 % above the other,"
            " on average over draws of the noise.",
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
