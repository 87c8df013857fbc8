"""Figure 4: mean error of both sides of a valley against the share of signs made consistent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.declare import CHECK, Criterion, Scope, Task, at_least, at_most, bind, claims, equal
from reproductions.asymvalley.models.pairs import Pair
from reproductions.asymvalley.models.scopes import CALIBRATED
from reproductions.asymvalley.valleys import quantities as q
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import one_net_at_zero
from reproductions.asymvalley.valleys.experiment import sign_ratios

NETS: dict[Pair, str] = {
    "vgg16_cifar10": "VGG16 with BN on CIFAR-10",
    "resnet20_svhn": "ResNet20 on SVHN",
}
CHANGED = "as more of the noise's signs are made those of the weights, in rank correlation with"


def on_net(pair: str, net: str) -> Iterator[tuple[str, Scope, Criterion, str]]:
    """Yield the claims on one net."""
    name = pair.split("_")[0]
    yield (
        f"{name}_plus_falls",
        CALIBRATED,
        at_most(partial(q.ratio_spearman, pair=pair, side="plus"), -0.9, "rank correlation"),
        f"{net}: the mean error of the positive side falls {CHANGED} their share.",
    )
    yield (
        f"{name}_minus_rises",
        CALIBRATED,
        at_least(partial(q.ratio_spearman, pair=pair, side="minus"), 0.6, "rank correlation"),
        f"{net}: the mean error of the negative side rises {CHANGED} their share.",
    )
    yield (
        f"{name}_starts_equal",
        CALIBRATED,
        at_most(partial(q.gap_at_start, pair=pair), 0.25, "share"),
        f"{net}: without changed signs both sides have nearly one mean error: they differ by at"
        " most 0.25 of the asymmetry with all signs changed.",
    )


by = ("pair", "seed", "draw")
excess = partial(q.excess_over_agreeing, column="ratio", values=(1.0,), by=by)
task = Task(
    "asymvalley/fig04",
    reads=(sign_ratios,),
    table=table.ratios(tuple(NETS)),
    claims=claims("Figure 4", *(row for pair, net in NETS.items() for row in on_net(pair, net)))
    + claims(
        "Figure 4: |eps| * sign(theta_f)",
        (
            "signs_agree",
            CHECK,
            equal(excess, 0, "share"),
            "At no ratio does a draw have the sign of the weight at more coordinates than at ratio"
            " 1.",
        ),
    )
    + one_net_at_zero("Figure 4"),
    figure=bind("figures:ratio_panels", titles=NETS),
    caption="Mean test error of the positive and of the negative side of the valley along"
    " norm-scaled Gaussian noise, against the share of coordinates that were given the sign of"
    " their weight: mean over draws and seeds, bands reach from the least to the largest of them."
    " The paper's curves are not published as numbers.",
    alt="Two panels, one per net, of mean test error against sign-change ratio, with one line for"
    " the positive and one for the negative side.",
)
