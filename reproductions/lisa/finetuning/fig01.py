"""Figures 1, 6, 8 and 11: loss over the steps of fine-tuning, each at its best rate."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Tables
from reproductions.lisa.claims import ON_A_CPU, exact
from reproductions.lisa.finetuning.claims import LISA, LORA, against_lora, in_house
from reproductions.lisa.finetuning.experiment import GAMMA, OURS, PERIOD, STAGED, experiment, staged
from reproductions.lisa.finetuning.quantities import (
    all_blocks_gap,
    last_difference,
    rise_after_minimum,
    smoothed_difference,
)
from reproductions.lisa.finetuning.table import CURVE_COLUMNS, curves, select

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

METHODS = ("full", "lora", "galore", "lisa")
ON = "In-house model on Alpaca."
SPREAD = "Lines: mean over seeds; bars: standard error."


def curve_view(
    frames: Tables,
    *,
    split: str,
    methods: tuple[str, ...] = METHODS,
    gammas: tuple[int, ...] = (GAMMA,),
) -> pd.DataFrame:
    """Return curves on our model and, where they are read, on the staged ones."""
    import pandas as pd

    parts = [select(frames[experiment.id], methods=methods, gammas=gammas, periods=(PERIOD,))]
    if staged.id in frames and len(frames[staged.id]):
        parts.append(select(frames[staged.id], methods=methods))
    return pd.concat([curves(part, split=split) for part in parts])


def draw_by_method(context: FigureContext, *, split: str) -> Figure:
    """Draw one panel a model, one line a method."""
    from reproductions.lisa.finetuning.figures import by_method, curve_panels

    table = context.table
    panels = [(str(m), by_method(table[table["model"] == m])) for m in table["model"].unique()]
    return curve_panels(context, panels, split=split)


def draw_by_gamma(context: FigureContext) -> Figure:
    """Draw one line of LISA a number of blocks."""
    from reproductions.lisa.finetuning.figures import by_column, curve_panels

    lines = by_column(context.table, "gamma", "gamma")
    return curve_panels(context, [("LISA", lines)], split="train")


fig01 = old_task(
    id="lisa/fig01",
    title="Training loss by method",
    reads=(experiment,),
    columns=CURVE_COLUMNS,
    claims=(against_lora(OURS),),
    view=partial(curve_view, split="train", methods=(*METHODS, "cyclic")),
    figure=partial(draw_by_method, split="train"),
    caption="Loss of batches before their steps, means over 13 steps, each method at the rate of"
    f" its least validation loss. {ON} {SPREAD}",
    alt="Training loss against steps for full training, LoRA, GaLore, BAdam and LISA.",
)
fig06 = old_task(
    id="lisa/fig06",
    title="Training loss of several models: LoRA, LISA, full training",
    reads=(experiment, staged),
    columns=CURVE_COLUMNS,
    claims=tuple(against_lora(model) for model in (OURS, *STAGED)),
    view=partial(curve_view, split="train", methods=("full", "lora", "lisa")),
    figure=partial(draw_by_method, split="train"),
    caption="As Figure 1, on the in-house model and on two small models that others trained on"
    f" stories, of whose five blocks LISA trains one at a time. {SPREAD}",
    alt="Training loss against steps in one panel a model, for full training, LoRA and LISA.",
)
fig08 = old_task(
    id="lisa/fig08",
    title="Training loss by the number of blocks",
    reads=(experiment,),
    columns=CURVE_COLUMNS,
    claims=(
        exact(
            "all_blocks_is_full",
            "With all blocks LISA is full training: the losses of all steps are equal (largest"
            " difference).",
            where="Algorithm 1 with gamma = N_L",
            form="equal",
            quantity=all_blocks_gap,
            bound=0.0,
            unit="nats",
            profiles=ON_A_CPU,
        ),
        in_house(
            "more_blocks_less_loss",
            "With eight blocks, all of ours, the final smoothed training loss is at most that with"
            " two, each at its own best rate.",
            where="Figure 8",
            quantity=partial(
                smoothed_difference, one={**LISA, "gamma": 8}, other={**LISA, "gamma": GAMMA}
            ),
            bound=0.0,
        ),
    ),
    view=partial(curve_view, split="train", methods=("full", "lisa"), gammas=(0, 2, 4, 8)),
    figure=draw_by_gamma,
    caption="LISA with K = 13, each number of blocks at the rate of its least validation loss;"
    f" means over 13 steps. {ON} {SPREAD}",
    alt="Training loss against steps, one line a number of blocks trained at once.",
)
fig11 = old_task(
    id="lisa/fig11",
    title="Held-out loss by method",
    reads=(experiment,),
    columns=CURVE_COLUMNS,
    claims=(
        in_house(
            "lisa_held_out_near_lora",
            "LISA's final held-out loss is at most LoRA's and 0.02.",
            where="Figure 11",
            quantity=partial(last_difference, one=LISA, other=LORA),
            bound=0.02,
        ),
        in_house(
            "lisa_does_not_overfit",
            "LISA's final held-out loss is at most 0.02 above its least.",
            where="Figure 11",
            quantity=partial(rise_after_minimum, chosen=LISA),
            bound=0.02,
        ),
    ),
    view=partial(curve_view, split="test"),
    figure=partial(draw_by_method, split="test"),
    caption="Loss on examples that neither training nor the choice of rates has seen, each method"
    f" at the rate of its least validation loss. {ON} {SPREAD}",
    alt="Held-out loss against steps for full training, LoRA, GaLore and LISA.",
)
tasks = (fig01, fig06, fig08, fig11)
