"""The same valley with BN statistics estimated anew at each point, and with frozen ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from reproductions.asymvalley.models.columns import rows_of
from reproductions.asymvalley.models.scopes import ON_A_CPU, identity, trained
from reproductions.asymvalley.starts.frozen_statistics import experiment
from reproductions.asymvalley.starts.quantities import frozen_excess, widest_centre
from reproductions.asymvalley.starts.table import STATISTICS_COLUMNS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Appendix A.3 (statistics are estimated anew); the comparison is ours"
NETS = {"vgg16_cifar10": "VGG16-BN on CIFAR-10", "resnet20_svhn": "ResNet20 on SVHN"}

CLAIMS = (
    identity(
        "one_centre",
        "At lambda = 0 every curve of one net and one kind of statistics has the same error.",
        where=WHERE,
        quantity=partial(widest_centre, by=("pair", "bn_stats")),
        expected=0.0,
        profiles=ON_A_CPU,
    ),
    *(
        trained(
            f"{pair}_frozen_is_worse",
            f"{name}: with frozen statistics the mean error of sign-consistent noise over lambda in"
            " (0, 1] is larger by more than 0.15.",
            form="at_least",
            where=WHERE,
            quantity=partial(frozen_excess, pair=pair),
            bound=0.15,
            threshold_from="calibration",
        )
        for pair, name in NETS.items()
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw raw and sign-consistent noise, each with both kinds of statistics."""
    from reproductions.asymvalley.starts.figures import statistics_panels

    return statistics_panels(context, titles=NETS)


task = old_task(
    id="asymvalley/bn_statistics",
    kind="ablation",
    title="The same valley with frozen and with re-estimated BN statistics: VGG16-BN on CIFAR-10,"
    " ResNet20 on SVHN",
    reads=(experiment,),
    columns=STATISTICS_COLUMNS,
    claims=CLAIMS,
    view=partial(rows_of, experiment=experiment.id, pairs=tuple(NETS), columns=STATISTICS_COLUMNS),
    figure=draw,
    caption="Test error under G(0,1) noise, norm-scaled with s = 1, raw (left) and sign-consistent"
    " (right). BN"
    " statistics are estimated anew at each point, as in the paper, or are those of training."
    " Lines are means over seeds and draws, bands reach to their extremes. Ours: the paper has no"
    " such figure.",
    alt="Panels of test error against lambda for two nets, raw and sign-consistent noise, each with"
    " a line for frozen and one for re-estimated BN statistics.",
)
