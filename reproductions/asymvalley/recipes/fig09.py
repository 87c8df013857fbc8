"""Figures 9 and 23: the valley under G(0,1) noise after six training recipes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import old_task
from harness.declare.task import Task
from reproductions.asymvalley.models.pairs import RECIPES
from reproductions.asymvalley.models.scopes import ABOVE_ZERO, ON_A_CPU, identity, trained
from reproductions.asymvalley.recipes.experiment import experiment
from reproductions.asymvalley.starts.quantities import (
    largest_raw_share,
    least_sign_asymmetry,
    raw_spread,
    widest_centre,
)
from reproductions.asymvalley.starts.table import RECIPE_COLUMNS, of_pair

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext


def _one_centre(where: str) -> Claim:
    return identity(
        "one_centre",
        "At lambda = 0 every curve of one net has the same error: raw or sign-consistent, whatever"
        " the draw.",
        where=where,
        quantity=partial(widest_centre, by=("recipe",)),
        expected=0.0,
        profiles=ON_A_CPU,
    )


def claims_of(where: str) -> tuple[Claim, ...]:
    """Return the claims that both figures make."""
    return (
        _one_centre(where),
        trained(
            "raw_symmetric",
            "After each of the six recipes the asymmetry of raw noise is at most 0.3 times that of"
            " the sign-consistent noise, in size.",
            form="at_most",
            where=where,
            quantity=largest_raw_share,
            bound=0.3,
            unit="ratio",
        ),
        trained(
            "sign_asymmetric",
            "After each of the six recipes the sign-consistent noise has the flatter side at"
            " lambda > 0.",
            form="at_least",
            where=where,
            quantity=least_sign_asymmetry,
            bound=ABOVE_ZERO,
        ),
        trained(
            "widths_differ",
            "The valleys differ: the mean error of raw noise over lambda in (0, 1] differs by a"
            " factor above 1.1 between the lowest and the highest of the six. Errors at lambda = 0"
            " count in it, as nets of unlike recipes do not err alike.",
            form="ratio",
            where=where,
            quantity=raw_spread,
            bound=(1.1, float("inf")),
            unit="ratio",
        ),
    )


def view(frames: Tables, *, pair: str) -> pd.DataFrame:
    """Return the curves of the six recipes of one net."""
    table = of_pair(frames, experiment=experiment.id, pair=pair, columns=RECIPE_COLUMNS)
    return table[table["recipe"].isin(RECIPES)]


def draw(context: FigureContext) -> Figure:
    """Draw one panel a changed setting, raw above and sign-consistent below."""
    from reproductions.asymvalley.starts.figures import recipe_panels

    return recipe_panels(context)


def _task(word: str, net: str, *, pair: str, where: str) -> Task:
    return old_task(
        id=f"asymvalley/{word}",
        title=f"Learning rate, batch size and weight decay against the valley: {net}",
        reads=(experiment,),
        columns=RECIPE_COLUMNS,
        claims=claims_of(where),
        view=partial(view, pair=pair),
        figure=draw,
        caption="Test error under G(0,1) noise, norm-scaled with s = 1, after training with one"
        " setting changed: above raw, below sign-consistent. Lines are means over seeds and"
        " draws, bands reach to their extremes. The paper's curves are not published as numbers.",
        alt="Two rows of three panels, test error against lambda for higher and lower learning"
        " rate, batch size and weight decay, raw noise above sign-consistent noise.",
    )


tasks = (
    _task(
        "fig09",
        "VGG16-BN on CIFAR-10",
        pair="vgg16_cifar10",
        where="Figure 9 and section 4.2.2",
    ),
    _task("fig23", "ResNet20 on CIFAR-10", pair="resnet20_cifar10", where="Figure 23"),
)
