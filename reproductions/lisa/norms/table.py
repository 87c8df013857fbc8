"""Table of layerwise norms: adapters as they are drawn, and norms over a training."""

from __future__ import annotations

from functools import partial

from harness.declare import Column, Frame, Table, Tables, columns_of, param, seed_column, value
from reproductions.lisa.models.rates import are_chosen
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.norms.experiment import Draw, Training, drawn, trained
from reproductions.lisa.norms.quantities import LORA, RUN, skew

VALUES = {
    "adapter_norm": "All factors A and B; none in full training.",
    "drawn_norm": "Root of its expected square as peft draws adapters.",
    "change_norm": "scale * B A; in full training theta_t - theta_0.",
    "weight_norm": "The parameters, adapters merged into them.",
    "base_norm": "The parameters before they were adapted or trained.",
    "skew_effective": "Largest change_norm of a layer over their median.",
    "validation_loss": "Nats per answer token at the end; empty where it diverged.",
}
DRAW = "One draw of adapters and weights."
TRAINING_OR_DRAW = (
    "One fine-tuning or one draw of adapters; where nothing trains, weights are drawn too."
)
KEYS: tuple[Column, ...] = (
    *columns_of(Draw, "model", "num_blocks"),
    *columns_of(Training, "method", "rank"),
    param("lr", float, "Highest learning rate; 0 untrained."),
    param("when", str, "start: before any step; mean: over norms after each step."),
    param("layer", str, "A tied head is the embedding."),
    param("place", int, "Place of the layer on the figure's axis."),
)
RESULTS: tuple[Column, ...] = (
    *(value(name, float, doc, nullable=True) for name, doc in VALUES.items()),
    value(
        "chosen",
        bool,
        "Whether this rate has the least validation loss of its method's; true untrained.",
    ),
)


def norms_of(*models: str, seed: str) -> Table:
    """Return the table of norms; models: whose adapters are drawn without training.

    seed: what counts as one.
    """
    make = partial(norm_table, models=(*models, "tiny-smoke"))
    return Table.of(KEYS, seed_column(seed), RESULTS, make=make)


def norm_table(tables: Tables, *, models: tuple[str, ...]) -> Frame:
    """Return the rows of both experiments, one above the other.

    models: whose adapters were drawn without training.
    """
    import pandas as pd

    first = tables[drawn.id]
    first = first[first["model"].isin(models)]
    parts = [first.assign(method=LORA, lr=0.0, chosen=True, validation_loss=float("nan"))]
    if trained.id in tables and len(tables[trained.id]):
        parts.append(_trained(tables[trained.id]))
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    skews = table.groupby(RUN)["change_norm"].transform(skew)
    return table.assign(skew_effective=skews)


def _trained(frame: Frame) -> Frame:
    built = frame["model"].map(lambda model: shape_of(model).num_blocks)
    losses = frame["validation_loss"].astype("float64").fillna(float("inf"))
    chosen = are_chosen(frame, by=("model", "method"), least={"loss": losses})
    return frame.assign(num_blocks=built, chosen=chosen)
