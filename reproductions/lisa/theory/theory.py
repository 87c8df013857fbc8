"""Theorem 1: on a convex problem the mean suboptimality falls like one over the root of T."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import flat_claim, old_task
from harness.declare.profiles import Profile
from harness.declare.table import Column, Table
from reproductions.lisa.claims import ON_A_CPU, exact
from reproductions.lisa.theory.experiment import experiment
from reproductions.lisa.theory.quantities import largest_gradient, least_gap, slowest_slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Theorem 1, section 3.3"
CPU: tuple[Profile, ...] = ("cpu",)
ASKED = -0.4
POLICIES = {
    "keep_all": "with the states of frozen blocks kept, as in the randomized block-coordinate Adam"
    " that the proof rests on",
    "drop_refrozen": "with the states of frozen blocks dropped, our default",
    "reset_all": "with all states dropped at every switch",
}
COLUMNS = Table(
    (
        Column(name="policy", type="str", role="param", doc="Of frozen blocks' states."),
        Column(name="decay", type="float", role="param", doc="Weight decay of AdamW."),
        Column(name="num_steps", type="int", role="param", doc="T."),
        Column(name="seed", type="int", role="seed", doc="Of layers and batches."),
        Column(name="gap", type="float", role="value", doc="f_reg(w_T) - f_reg*."),
        Column(name="mean_gap", type="float", role="value", doc="Its mean over steps 1 to T."),
        Column(
            name="optimum_gradient",
            type="float",
            role="value",
            doc="Largest entry of f_reg's gradient at the optimum.",
        ),
        Column(name="optimum_norm", type="float", role="value", doc="Norm of the optimum."),
    )
)


def rate(policy: str, words: str) -> Claim:
    """Return the claim on one policy."""
    return flat_claim(
        id=f"rate_{policy}",
        statement=f"The mean suboptimality falls at least like T^{ASKED} over the last decade of T,"
        f" {words} (slope in log-log of the slower of two weight decays).",
        where=f"{WHERE}; threshold: ours, see DEV-04",
        form="at_most",
        grade="empirical",
        quantity=partial(slowest_slope, policy=policy),
        threshold=ASKED,
        threshold_from="theory",
        profiles=CPU,
        out_of_profile="a few steps have no last decade, and there is nothing in it for a GPU",
        unit="slope",
    )


CLAIMS = (
    exact(
        "optimum_is_stationary",
        "f_reg's gradient vanishes at the optimum (largest entry).",
        where=WHERE,
        form="at_most",
        quantity=largest_gradient,
        bound=1e-9,
        unit="gradient",
        profiles=ON_A_CPU,
    ),
    exact(
        "nothing_below_the_optimum",
        "No iterate lies below the optimum of f_reg (least difference).",
        where=WHERE,
        form="at_least",
        quantity=least_gap,
        bound=-1e-12,
        unit="loss",
        profiles=ON_A_CPU,
    ),
    *(rate(policy, words) for policy, words in POLICIES.items()),
)


def draw(context: FigureContext) -> Figure:
    """Draw one panel a decay, one line a policy."""
    from reproductions.lisa.theory.figures import rate_panels

    return rate_panels(context, policies=tuple(POLICIES))


task = old_task(
    id="lisa/theory",
    title="Convergence of LISA on a convex problem",
    kind="theory",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    figure=draw,
    caption="Mean over steps of f_reg(w_t) - f_reg* against the number of steps: logistic"
    " regression on digits, even against odd, eight blocks of which two train at once, a step size"
    " that falls like one over the root of t. Lines: mean over seeds; bars: standard error."
    " Dotted: the theorem's slope of -1/2.",
    alt="Log-log plot of mean suboptimality against steps for three state policies and two weight"
    " decays; lines fall about as steeply as the dotted guide.",
)
