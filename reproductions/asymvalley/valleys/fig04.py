"""Figure 4: mean error of both sides of a valley against the share of signs made consistent."""

from functools import partial

from harness.declare import Task, at_least, at_most, bind, claims
from reproductions.asymvalley.models.controls import CALIBRATED, at_centre, errors_of, one_centre
from reproductions.asymvalley.models.curves import ratio_spearmans
from reproductions.asymvalley.models.pairs import TWO_TITLES
from reproductions.asymvalley.valleys import quantities as q
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import signs_agree
from reproductions.asymvalley.valleys.experiment import sign_ratios

BY_NET = partial(ratio_spearmans, of=[{"pair": pair} for pair in TWO_TITLES], min_draws=3)
TRAINED_WELL = at_centre(CALIBRATED, *TWO_TITLES)
EXCESS = partial(q.excess_over_agreeing, column="ratio", values=(1.0,), by=("pair", "seed", "draw"))

task = Task(
    "asymvalley/fig04",
    reads=(sign_ratios,),
    table=table.ratios(TWO_TITLES),
    claims=claims(
        "Figure 4",
        (
            "positive_side_falls",
            TRAINED_WELL,
            at_most(partial(BY_NET, side="plus"), -0.9, "rank correlation")
            .naming("VGG16", "ResNet20")
            .measuring("of a side's error with the share of agreeing signs"),
            "The more of the noise's signs agree with the weights', the lower the error on the"
            " positive side.",
        ),
        (
            "negative_side_rises",
            TRAINED_WELL,
            at_least(partial(BY_NET, side="minus"), 0.9, "rank correlation")
            .naming("VGG16", "ResNet20")
            .measuring("of a side's error with the share of agreeing signs"),
            "The more of the noise's signs agree with the weights', the higher the error on the"
            " negative side.",
        ),
    )
    + claims(
        "Figure 4: |eps| * sign(theta_f)",
        signs_agree(EXCESS, "No ratio makes more signs agree than a ratio of 1."),
    )
    + claims("Figure 4: L(theta_f)", one_centre("pair")),
    layout=errors_of(
        {title: {"pair": pair} for pair, title in TWO_TITLES.items()}, ratio=0.0, draw=0
    ),
    figure=bind("figures:ratio_panels", titles=TWO_TITLES),
    caption="Mean test error on the positive and on the negative side of the valley along"
    " norm-scaled Gaussian noise, against the share of coordinates that were given the sign of"
    " their weight. Lines are means over draws and seeds; bands reach to the extremes.",
    alt="Two panels, one per net, of mean test error against sign-change ratio, with one line for"
    " the positive and one for the negative side.",
)
