"""Figure 12: norms by layer of Mistral-7B."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Tables
from reproductions.lisa.norms import initial as initial_norms
from reproductions.lisa.norms.claims import of_drawn
from reproductions.lisa.norms.table import COLUMNS, norm_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Figure 12"
MODELS = ("mistral-7b",)


def view(frames: Tables) -> pd.DataFrame:
    """Return the model's adapters as they are drawn."""
    return norm_table(frames, drawn=(*MODELS, "tiny-smoke"))


def draw(context: FigureContext) -> Figure:
    """Draw one panel."""
    from reproductions.lisa.norms.figures import norm_panels

    return norm_panels(context)


task = old_task(
    id="lisa/fig12",
    title="Layerwise weight norms of Mistral-7B",
    reads=(initial_norms.experiment,),
    columns=COLUMNS,
    claims=of_drawn(MODELS, "Mistral-7B", where=WHERE),
    view=view,
    figure=draw,
    caption="L2 norm of a layer's adapters at the model's widths and rank 128, before any step: as"
    " drawn (plus signs, one block, as all are drawn alike) and in closed form (broad grey line)."
    " E is the token embedding, H the head. The paper's values are not known to us, and its trained"
    " model is not at hand. Points: mean over seeds; bars: standard error.",
    alt="Layer norms of untrained adapters on a log axis: they lie on the closed form of the"
    " initialiser, far higher at the embedding than at blocks and lowest at the head.",
)
