"""Tables of layerwise norms: adapters as they are drawn, and norms over a training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import Column, Table, Tables
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.norms.quantities import LORA, RUN, skew

if TYPE_CHECKING:
    import pandas as pd

DRAWN, TRAINED = "lisa/initial_norms", "lisa/norms"
_CHOICE = ["model", "method"]
"""What a learning rate is chosen for."""


def _value(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc, nullable=True)


COLUMNS = Table(
    (
        Column(name="model", type="str", role="param", doc="Shape of the model."),
        Column(name="num_blocks", type="int", role="param", doc="Blocks that were built."),
        Column(name="method", type="str", role="param", doc="lora or full."),
        Column(name="rank", type="int", role="param", doc="Of LoRA; 0 without."),
        Column(name="lr", type="float", role="param", doc="Highest learning rate; 0 untrained."),
        Column(
            name="when", type="str", role="param",
            doc="start: before any step; mean: over norms after each step.",
        ),
        Column(name="layer", type="str", role="param", doc="A tied head is the embedding."),
        Column(name="place", type="int", role="param", doc="Of the layer on the figure's axis."),
        Column(name="seed", type="int", role="seed", doc="Of adapters, weights and batches."),
        _value("adapter_norm", "Of all factors A and B; none in full training."),
        _value("drawn_norm", "Root of its expected square as peft draws adapters."),
        _value("change_norm", "Of scale * B A; in full training of theta_t - theta_0."),
        _value("weight_norm", "Of the parameters, adapters merged into them."),
        _value("base_norm", "Of the parameters before they were adapted or trained."),
        _value("skew_effective", "Largest change_norm of a layer over their median."),
        _value("validation_loss", "Nats an answer token at the end; empty where it diverged."),
        Column(
            name="chosen", type="bool", role="value",
            doc="Whether this rate has the least validation loss of its method's; true untrained.",
        ),
    )
)  # fmt: skip


def norm_table(frames: Tables, *, drawn: tuple[str, ...]) -> pd.DataFrame:
    """Return the rows of both experiments, one above the other.

    drawn: models of which adapters were drawn without training.
    """
    import pandas as pd

    first = frames[DRAWN]
    first = first[first["model"].isin(drawn)]
    parts = [first.assign(method=LORA, lr=0.0, chosen=True, validation_loss=float("nan"))]
    if TRAINED in frames and len(frames[TRAINED]):
        parts.append(_trained(frames[TRAINED]))
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    skews = table.groupby(RUN)["change_norm"].transform(skew)
    return table.assign(skew_effective=skews)[list(COLUMNS.names)]


def _trained(frame: pd.DataFrame) -> pd.DataFrame:
    built = frame["model"].map(lambda model: shape_of(model).num_blocks)
    losses = frame.assign(loss=frame["validation_loss"].astype("float64").fillna(float("inf")))
    means = losses.groupby([*_CHOICE, "lr"])["loss"].mean().reset_index()
    best = means.loc[means.groupby(_CHOICE)["loss"].idxmin()]
    rates = frame[_CHOICE].merge(best, on=_CHOICE, how="left")["lr"].set_axis(frame.index)
    return frame.assign(num_blocks=built, chosen=frame["lr"] == rates)
