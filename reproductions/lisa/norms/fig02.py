"""Figure 2: norms by layer under LoRA and under full training."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.profiles import Profile
from harness.declare.table import Tables
from reproductions.lisa.norms import experiment as norms
from reproductions.lisa.norms import initial as initial_norms
from reproductions.lisa.norms.claims import MOVE, RATIO, SPREAD, empirical, of_drawn
from reproductions.lisa.norms.quantities import adapters_moved, block_spread, embedding_ratio
from reproductions.lisa.norms.table import COLUMNS, norm_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Figure 2 and its section"
MODELS = ("gpt2-small", "llama-2-7b")
OURS = "tiny-quality"
CPU: tuple[Profile, ...] = ("cpu",)
IN_HOUSE = {
    "where": f"{WHERE}; in-house stand-in, see DEV-07",
    "profiles": CPU,
    "out_of_profile": "the in-house model is trained at cpu; the paper's need their weights",
}

CLAIMS = (
    *of_drawn(MODELS, "GPT2-Small and LLaMA-2-7B", where=WHERE),
    empirical(
        "embedding_above_blocks",
        "Under LoRA the embedding's adapters have, in the mean over training, at least five times"
        " the norm of the median block's.",
        form="at_least",
        quantity=partial(embedding_ratio, model=OURS),
        bound=RATIO,
        unit="ratio",
        **IN_HOUSE,  # type: ignore[arg-type]
    ),
    empirical(
        "full_profile_is_flat",
        "Under full training no block's norm is more than twice another's, in the mean over"
        " training.",
        form="at_most",
        quantity=partial(block_spread, model=OURS),
        bound=SPREAD,
        unit="ratio",
        **IN_HOUSE,  # type: ignore[arg-type]
    ),
    empirical(
        "training_hardly_moves_adapters",
        "The mean over training of an adapter's norm differs by less than 10 % from its norm before"
        " any step (largest difference over layers).",
        form="at_most",
        quantity=partial(adapters_moved, model=OURS),
        bound=MOVE,
        unit="share",
        **IN_HOUSE,  # type: ignore[arg-type]
    ),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return the paper's two models as drawn, and the in-house model as trained."""
    return norm_table(frames, drawn=(*MODELS, "tiny-smoke"))


def draw(context: FigureContext) -> Figure:
    """Draw a panel a model."""
    from reproductions.lisa.norms.figures import norm_panels

    return norm_panels(context)


task = old_task(
    id="lisa/fig02",
    title="Layerwise weight norms under LoRA and full training",
    reads=(initial_norms.experiment, norms.experiment),
    columns=COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="L2 norm of all parameters of a layer: E and P embeddings of tokens and positions, H"
    " head. Broad grey line: what the initialiser gives adapters, in closed form. Plus signs:"
    " adapters drawn at the paper's widths and rank 128, before any step; of LLaMA-2-7B one block,"
    " as all are drawn alike. Hollow and dashed: the paper's early version, means over its"
    " training; GPT-2's head is its token embedding, which it shows twice and we once. The in-house"
    " model: means over 122 steps of fine-tuning, each method at the rate of its least validation"
    " loss. Last panel: largest layer over the median one. Points: mean over seeds; bars: standard"
    " error.",
    alt="Panels of layer norms on a log axis. In GPT2-Small and LLaMA-2-7B untrained adapters and"
    " the early version's curve for LoRA lie on the closed form of the initialiser, high at the"
    " token embedding and low at blocks; its curve for full training has blocks that are alike. A"
    " third panel has the in-house model, trained, and a last one how far its largest layer stands"
    " out.",
)
