"""Figures 7, 21 and 22: what BN weights start from, what they become, and the valley then."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim, Threshold
from harness.declare.old import flat_claim, old_task
from harness.declare.task import Task
from reproductions.asymvalley.models.paper_numbers import stated
from reproductions.asymvalley.models.scopes import ON_A_CPU, PAPER_ONLY, STRICTLY, identity, trained
from reproductions.asymvalley.starts.experiment import experiment
from reproductions.asymvalley.starts.quantities import (
    bn_asymmetry,
    bn_asymmetry_share,
    filter_asymmetries,
    middle_weight,
    positive_share,
    widest_centre,
)
from reproductions.asymvalley.starts.table import START_COLUMNS, of_pair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

POSITIVE = ("ones", "uniform")
START_NAMES = {"ones": "at 1", "uniform": "from U(0,1)", "gaussian": "from G(0,0.1)"}
SHARES: dict[str, Threshold] = {
    "ones": (0.97, 1.0),
    "uniform": (0.97, 1.0),
    "gaussian": (0.3, 0.7),
}


def _share_claim(start: str, where: str) -> Claim:
    low, high = SHARES[start]
    amount = f"between {low:g} and {high:g}" if high < 1.0 else f"at least {low:g}"
    return trained(
        f"{start}_positive_share",
        f"Started {START_NAMES[start]}, the share of BN weights that end positive is {amount}.",
        form="within",
        where=where,
        quantity=partial(positive_share, start=start),
        bound=SHARES[start],
        threshold_from="calibration",
        unit="share",
    )


def _bn_claims(where: str) -> tuple[Claim, ...]:
    """Return the claims on {0,1} noise that is put on BN weights alone: the mechanism, ours."""
    asymmetric = (
        trained(
            f"{start}_bn_asymmetric",
            f"Started {START_NAMES[start]}, {{0,1}} noise on the BN weights alone is asymmetric"
            " at s = 1: E- exceeds E+ by at least 0.1.",
            form="at_least",
            where=where,
            quantity=partial(bn_asymmetry, start=start),
            bound=0.10,
            threshold_from="calibration",
        )
        for start in POSITIVE
    )
    symmetric = trained(
        "gaussian_bn_symmetric",
        "Started from G(0,0.1), the asymmetry of {0,1} noise on the BN weights alone is at most"
        " 0.33 times that of the other two starts, in size.",
        form="at_most",
        where=where,
        quantity=partial(bn_asymmetry_share, start="gaussian", others=POSITIVE),
        bound=0.33,
        threshold_from="calibration",
        unit="ratio",
    )
    return (*asymmetric, symmetric)


def _filter_claim(start: str, where: str) -> Claim:
    return trained(
        f"{start}_filter_more_asymmetric",
        f"Started {START_NAMES[start]}, filter-normalized {{0,1}} noise on all parameters is more"
        " asymmetric at the smallest s, in size, than started from G(0,0.1). Which side is flatter"
        " is not claimed.",
        form="ordering",
        where=where,
        quantity=partial(filter_asymmetries, starts=("gaussian", start)),
        bound=STRICTLY,
        threshold_from="calibration",
    )


def claims_of(where: str) -> tuple[Claim, ...]:
    """Return the claims that each of the three figures makes."""
    return (
        identity(
            "one_centre",
            "At lambda = 0 every curve of one net has the same error, whatever its noise and"
            " scaling.",
            where=where,
            quantity=partial(widest_centre, by=("bn_start",), x="x"),
            expected=0.0,
            profiles=ON_A_CPU,
        ),
        *(_share_claim(start, where) for start in START_NAMES),
        *_bn_claims(where),
        *(_filter_claim(start, where) for start in POSITIVE),
    )


STATED = flat_claim(
    id="ones_centre_as_stated",
    statement="Started at 1, BN weights end centred near 0.2: their median over all layers is"
    " between 0.1 and 0.3. The paper shows one layer, and does not say which.",
    where="Section 4.2.1",
    form="within",
    grade="empirical",
    quantity=partial(middle_weight, start="ones"),
    threshold=(0.1, 0.3),
    threshold_from="paper",
    profiles=("paper",),
    out_of_profile=PAPER_ONLY,
    unit="weight",
    paper_value=partial(stated, y_name="bn_weight_centre_approximately"),
)


def draw(context: FigureContext) -> Figure:
    """Draw what BN weights became, and three kinds of valley, a column a start."""
    from reproductions.asymvalley.starts.figures import start_panels

    return start_panels(context)


def _task(word: str, net: str, *, pair: str, claims: tuple[Claim, ...]) -> Task:
    return old_task(
        id=f"asymvalley/{word}",
        title=f"Initial BN weights and the valley under {{0,1}} noise: {net}",
        reads=(experiment,),
        columns=START_COLUMNS,
        claims=claims,
        view=partial(of_pair, experiment=experiment.id, pair=pair, columns=START_COLUMNS),
        figure=draw,
        caption="Weights of batch normalization that start at 1, from U(0,1) and from G(0,0.1), one"
        " column each. First row: share of the BN weights below a value after training, a line a"
        " seed, and how many are positive. The others: test error under {0,1} noise of width s, on"
        " all parameters norm-scaled and filter-normalized, and on the BN weights alone: lines are"
        " means over seeds and draws, bands reach to their extremes. The paper's curves are not"
        " published as numbers.",
        alt="Three columns, one for each start of the BN weights, with rows for their distribution"
        " after training and for three kinds of valley of test error against lambda.",
    )


tasks = (
    _task(
        "fig07",
        "VGG16-BN on CIFAR-10",
        pair="vgg16_cifar10",
        claims=(*claims_of("Figure 7 and section 4.2.1"), STATED),
    ),
    _task("fig21", "ResNet20 on SVHN", pair="resnet20_svhn", claims=claims_of("Figure 21")),
    _task(
        "fig22", "ResNet20 on CIFAR-100", pair="resnet20_cifar100", claims=claims_of("Figure 22")
    ),
)
