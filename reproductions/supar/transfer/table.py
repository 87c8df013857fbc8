"""Tables of untuned nets: one row per run."""

from __future__ import annotations

from typing import Any

from harness.declare import Frame, Table, Tables, value
from reproductions.supar.models.costs import train_flops
from reproductions.supar.models.points import FixedPoint
from reproductions.supar.models.tables import PLACE, TRAINED, runs
from reproductions.supar.transfer.experiment import fixed_hyperparameters, transfer

RATE = value("lr", float, "Peak base learning rate, not tuned.")


def with_operations(tables: Tables) -> Frame:
    """Return the nets of Figure 10, with the operations of their training."""
    frame = tables[fixed_hyperparameters.id]
    points: list[Any] = frame[[field.name for field in FixedPoint.fields()]].to_dict("records")
    flops = [train_flops(FixedPoint.from_json(point)) for point in points]
    return runs(frame.assign(train_flops=flops))


TRANSFER = Table.of(PLACE, RATE, TRAINED, make=lambda tables: runs(tables[transfer.id]))
DEEP = Table.of(
    PLACE,
    RATE,
    TRAINED,
    value(
        "train_flops",
        float,
        "Operations of the training run if masked weights cost none: hidden matrices times density;"
        " attention and unembedding as they are.",
    ),
    make=with_operations,
)
