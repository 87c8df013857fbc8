"""How much nets err after which training: what `cpu` can afford is chosen on it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Cell, Layout, Line, Table, Task, columns_of, value
from reproductions.asymvalley.models.columns import SEED
from reproductions.asymvalley.models.pairs import short_name
from reproductions.asymvalley.pilots.experiment import NETS, PilotNet, net_of, pilot_nets

TOLD_BY = ("pair", "recipe", "width", "epochs", "lr", "num_train")
RECIPE_NAMES = {
    "base": "",
    "lr_low": ", learning rate 0.003",
    "bs_large": ", large batch",
}
ERRORS = Table.of(
    columns_of(PilotNet, *TOLD_BY, "batch_size", "augment", "weights"),
    SEED,
    (
        value(name, float, doc, nullable=True)
        for name, doc in (
            ("train_error", "Share of wrong predictions on training images, in evaluation mode."),
            ("validation_error", "The same on images that are neither trained nor tested on."),
            ("validation_ce", "Mean cross-entropy on these in nats."),
        )
    ),
)


def rows() -> Iterator[Line]:
    """Yield a row for each net that was to be tried, also where it was not."""
    for pair, changed in NETS:
        net = net_of(pair, 0, **changed)
        head = (
            f"width {net.width}, {net.num_train:,} images, {net.epochs} epochs"
            f"{RECIPE_NAMES[net.recipe]}"
            f"{f', fine-tuned at rate {net.lr:g}' if net.weights else ''}"
        )
        where = {name: getattr(net, name) for name in TOLD_BY}
        yield Line(head, group=short_name(net), where=where)


task = Task(
    "asymvalley/pilot_nets",
    own_kind="ablation",
    reads=(pilot_nets,),
    table=ERRORS,
    layout=Layout(
        rows=tuple(rows()),
        columns=(
            Line("training error", cell=Cell("train_error", unit="%", scale=0.01, digits=1)),
            Line("validation error", cell=Cell("validation_error", unit="%", scale=0.01, digits=1)),
        ),
        notes=("One training each, at a seed of the pilots.",),
        ours=True,
    ),
    caption="Errors of nets after trainings that two cores can afford. The bounds of positive"
    " controls are at most 25 % for VGG16 with batch normalization, 20 % for ResNet20 and 45 % for"
    " nets without; a net that misses its bound here is not trained for the run. Of the halves of"
    " Figure 11 those from a random start may err on at most 45 %, those from a pre-trained one on"
    " at most 75 %.",
    alt="A table of training and validation errors, a row for each net and training.",
)
