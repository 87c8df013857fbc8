"""Figure 29: six metrics of softmax regression along raw and sign-consistent noise."""

from functools import partial

from harness.declare import Task, at_most, claims, equal, more_than
from reproductions.asymvalley.models.controls import TOY, TOY_CHECK
from reproductions.asymvalley.toys import quantities as q
from reproductions.asymvalley.toys import table
from reproductions.asymvalley.toys.experiment import softmax_noises

LARGEST_ERROR = 0.05
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
            "From one size to the next the cross-entropy changes as much as the slopes at both"
            " allow a convex loss.",
        ),
        (
            "positive_side_has_lower_metrics",
            TOY.controlled(
                f"the fit errs on at most {100 * LARGEST_ERROR:.0f} % of its images",
                at_most(q.error_of_fit, LARGEST_ERROR, "error"),
            ),
            more_than(partial(q.falls, values=tuple(NAMES)), 0, "relative gap")
            .naming(*NAMES.values())
            .measuring("negative side less positive side, over the smaller of both"),
            "Under sign-consistent noise error, cross-entropy and both traces are lower on the"
            " positive side.",
        ),
    ),
    figure="figures:metric_panels",
    caption="Softmax regression on the digits along Gaussian noise that is not norm-scaled, against"
    " its size l: means over draws of the noise with their standard error. tr(P) is the mean of"
    " sum p (1 - p), tr(H) the trace of the Hessian. First and second order are taken along the"
    " noise, as in the paper's text, and along the perturbed weights, as in its listing.",
    alt="Eight panels of metrics against noise size: sign-consistent curves are low on the"
    " positive side and high on the negative one, raw curves nearly symmetric.",
)
