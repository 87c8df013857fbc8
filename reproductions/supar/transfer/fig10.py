"""Figure 10: deep nets at equal hidden weights, all with the dense net's hyperparameters."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, Task, at_least, claims, ordering
from reproductions.supar.models.claims import OURS, dense_is_identical
from reproductions.supar.models.schemes import NAMES
from reproductions.supar.transfer import quantities as q
from reproductions.supar.transfer import table
from reproductions.supar.transfer.experiment import fixed_hyperparameters

SPARSE = {"half": 0.5, "quarter": 0.25, "eighth": 0.125}

task = Task(
    "supar/fig10",
    reads=(fixed_hyperparameters,),
    table=table.DEEP,
    claims=claims("Table 1 with m_rho = 1", dense_is_identical("seed", x="lr"))
    + claims(
        "Figure 10 and section 4.2",
        *(
            (
                f"supar_below_{scheme}_{word}",
                OURS,
                ordering(
                    partial(
                        q.losses_at, schemes=("supar", scheme), density=density, value="train_loss"
                    ),
                    "nats",
                ),
                f"With the dense net's hyperparameters, SμPar's loss at density {density:g} is at"
                f" most that of {NAMES[scheme]}.",
            )
            for scheme in ("mup", "sp")
            for word, density in SPARSE.items()
        ),
    )
    + claims(
        "footnote 7",
        (
            "not_iso_flop",
            CHECK,
            at_least(q.flops_to_dense, 1, "ratio"),
            "Equal weights are not equal work: the widest and sparsest net needs more training"
            " operations than the dense one, as attention and unembedding stay dense.",
        ),
    ),
    figure=".models.loss_figures:ladder_panels",
    caption="Left: train loss (mean of the last tenth of the steps) of ten-layer nets of equal"
    " hidden weights, wider and sparser to the right, with the hyperparameters of the dense net:"
    " mean over seeds, bars show its standard error. Right: training operations of each net over"
    " those of the dense one, masked weights counted as free. The paper's curves are not published"
    " as numbers.",
    alt="Train loss of SP, μP and SμPar on four nets of equal weights and growing width, and the"
    " ratio of their training operations to the dense net's.",
)
