"""The in-house model that is fine-tuned: what its pre-training came to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Column, Table
from reproductions.lisa.base_model.experiment import experiment
from reproductions.lisa.claims import ON_A_CPU, exact
from reproductions.lisa.models.shapes import shape_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

COLUMNS = Table(
    (
        Column(name="shape", type="str", role="param", doc="Of the model."),
        Column(name="data", type="str", role="param", doc="Text that it is trained on."),
        Column(name="split", type="str", role="param", doc="train, or held_out books."),
        Column(name="step", type="int", role="param", doc="Optimizer steps so far."),
        Column(name="seed", type="int", role="seed", doc="Of weights and batches."),
        Column(
            name="loss", type="float", role="value",
            doc="Nats a token; of train the mean over the steps since the row before.",
        ),
        Column(
            name="chars_per_token", type="float", role="value", nullable=True,
            doc="Characters of held-out text that a token stands for.",
        ),
    )
)  # fmt: skip


def share_of_guessing(table: pd.DataFrame) -> float:
    """Return the held-out loss over that of guessing evenly among all tokens."""
    (row,) = table[table["split"] == "held_out"].itertuples()
    return float(row.loss) / math.log(shape_of(str(row.shape)).vocab)


CLAIMS = (
    exact(
        "held_out_is_learned",
        "The model has learned from its text: its loss on held-out text is below that of guessing"
        " evenly among all tokens (ratio).",
        where="our model, not the paper's",
        form="at_most",
        quantity=share_of_guessing,
        bound=1.0,
        unit="ratio",
        profiles=ON_A_CPU,
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw the training loss, and the held-out loss at its end."""
    from harness.publish.figures import PALETTE, plot_ours

    figure, (ax,) = context.subplots(aspect=0.5)
    for split, color, marker in (("train", PALETTE[0], "o"), ("held_out", PALETTE[1], "s")):
        rows = context.table[context.table["split"] == split]
        label = split.replace("_", "-")
        plot_ours(ax, rows, x="step", y="loss", label=label, color=color, marker=marker)
    ax.set_xlabel("optimizer step")
    ax.set_ylabel("loss in nats a token")
    ax.legend()
    return figure


task = old_task(
    id="lisa/base_model",
    title="Pre-training of the in-house model",
    kind="figure",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    figure=draw,
    caption="Loss while the in-house model is pre-trained on books that are free of copyright, and"
    " at the end on books that it has not seen. All fine-tuning starts from its weights. One seed.",
    alt="Training loss falls over the optimizer steps; the held-out loss at the end lies near it.",
)
