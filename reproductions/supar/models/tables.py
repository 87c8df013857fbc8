"""Tables that several tasks share: their columns, and how they come from the long frames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from harness.declare.table import Column, Table
from reproductions.supar.models.points import ABLATIONS

if TYPE_CHECKING:
    import pandas as pd

    from harness.declare.table import Tables

SWEEP = "supar/lr_sweep"

SCHEME = Column(
    name="scheme",
    type="str",
    role="param",
    doc="Parameterization: sp, mup, supar, or a half-way ablation: mup_init_only, mup_lr_only.",
)
DENSITY = Column(
    name="density", type="float", role="param", doc="Fraction of hidden weights that is kept."
)
WIDTH = Column(name="width", type="int", role="param", doc="Hidden width d of the model.")
SEED = Column(
    name="seed", type="int", role="seed", doc="Shared by all schemes: same masks, same batches."
)
LOG2_LR = Column(
    name="log2_lr",
    type="float",
    role="param",
    doc="log2 of the peak base learning rate (eta_base), the one the embeddings use.",
)

LOG2_SIGMA = Column(
    name="log2_sigma",
    type="float",
    role="param",
    doc="log2 of the base standard deviation (sigma_base), the one the embeddings start with; SP"
    " has it in every matrix.",
)


def _loss(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc, nullable=True)


TRAIN_LOSS = _loss(
    "train_loss",
    "Mean loss of the last tenth of the training steps, in nats a token; empty if diverged.",
)
VAL_LOSS = _loss("val_loss", "Loss on the validation split after training, in nats a token.")
TEST_LOSS = _loss("test_loss", "Loss on the test split after training, in nats a token.")

CLIP_RATE = Column(
    name="clip_rate",
    type="float",
    role="value",
    doc="Fraction of steps whose gradient norm was clipped.",
    nullable=True,
)
DIVERGED = Column(
    name="diverged",
    type="bool",
    role="value",
    doc="Whether the loss left the finite numbers or passed the experiment's bound.",
)
TRAINED = (SEED, TRAIN_LOSS, VAL_LOSS, TEST_LOSS, CLIP_RATE, DIVERGED)
SWEEP_COLUMNS = Table((SCHEME, DENSITY, WIDTH, LOG2_LR, *TRAINED))
SIGMA_COLUMNS = Table((SCHEME, DENSITY, WIDTH, LOG2_SIGMA, *TRAINED))

BEST_COLUMNS = Table(
    (
        SCHEME,
        DENSITY,
        WIDTH,
        SEED,
        Column(
            name="log2_lr",
            type="float",
            role="value",
            doc="log2 of the peak base learning rate with the least validation loss.",
            nullable=True,
        ),
        Column(
            name="on_edge",
            type="bool",
            role="value",
            doc="Whether that rate is the first or last of its window, so not an optimum.",
        ),
        Column(name="num_rates", type="int", role="value", doc="Learning rates that were tried."),
        VAL_LOSS,
        TRAIN_LOSS,
        TEST_LOSS,
    )
)


def run_table(frame: pd.DataFrame, columns: Table) -> pd.DataFrame:
    """Return one row a run of a long frame, diverged runs marked."""
    return frame.assign(diverged=frame["status"] == "diverged")[columns.names]


def sweep_table(frames: Tables) -> pd.DataFrame:
    """Return the sweep of all schemes, one row a run."""
    return run_table(frames[SWEEP], SWEEP_COLUMNS)


def two_scheme_table(frames: Tables) -> pd.DataFrame:
    """Return the sweep of standard parameterization and SmuPar, the two panels of Figure 1."""
    table = sweep_table(frames)
    return table[table["scheme"].isin(("sp", "supar"))]


def with_dense_ablations(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the dense rows of both ablations: those of muP, which they are at density 1.

    `supar/tab01` holds that the losses are equal to the bit.
    """
    import pandas as pd

    dense = frame[(frame["scheme"] == "mup") & (frame["density"] == 1.0)]
    return pd.concat([frame, *(dense.assign(scheme=scheme) for scheme in ABLATIONS)])


def best_table(frames: Tables) -> pd.DataFrame:
    """Return, per scheme, density and seed, the run whose validation loss is least.

    Where every run diverged the chosen rate and its losses are empty.
    """
    import pandas as pd

    keys = ["scheme", "density", "width", "seed"]
    groups = frames[SWEEP].groupby(keys, sort=False)
    rows = [dict(zip(keys, key, strict=True)) | _best(group) for key, group in groups]
    return pd.DataFrame(rows, columns=BEST_COLUMNS.names)


def _best(group: pd.DataFrame) -> dict[str, object]:
    """Return the chosen run of one scheme, density and seed."""
    rates = group["log2_lr"].astype(float)
    losses = group["val_loss"].astype(float)
    chosen = group.loc[losses.idxmin()] if losses.notna().any() else None
    names = ("log2_lr", "val_loss", "train_loss", "test_loss")
    picked = {name: math.nan if chosen is None else float(chosen[name]) for name in names}
    edge = chosen is None or picked["log2_lr"] in (rates.min(), rates.max())
    return {**picked, "on_edge": edge, "num_rates": int(rates.nunique())}
