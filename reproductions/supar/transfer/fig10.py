"""Figure 10: deep nets at equal hidden weights, all with the dense net's hyperparameters."""

from functools import partial

from harness.declare import CHECK, Task, at_least, claims
from reproductions.supar.models.claims import NOT_PUBLISHED, OURS, SPREAD, dense_is_identical
from reproductions.supar.models.schemes import LABELS
from reproductions.supar.transfer import quantities as q
from reproductions.supar.transfer import table
from reproductions.supar.transfer.experiment import fixed_hyperparameters

PAIRS = (("sp", "supar"), ("mup", "supar"))
SPARSE = (0.5, 0.25, 0.125)

task = Task(
    "supar/fig10",
    reads=(fixed_hyperparameters,),
    table=table.DEEP,
    claims=claims("Table 1 with m_rho = 1", dense_is_identical(x="lr"))
    + claims(
        "Figure 10 and section 4.2",
        (
            "supar_is_best",
            OURS,
            at_least(
                partial(q.differences, pairs=PAIRS, densities=SPARSE, value="train_loss"),
                0,
                "nats",
            )
            .naming(*(f"{LABELS[rival]} at density {at:g}" for at in SPARSE for rival, _ in PAIRS))
            .measuring("the other's loss less SμPar's"),
            "With the dense net's hyperparameters (wide SP nets: a third of the rate) SμPar has"
            " the least loss of the three at every sparsity.",
        ),
    )
    + claims(
        "footnote 7",
        (
            "not_iso_flop",
            CHECK,
            at_least(q.flops_to_dense, 1, "ratio"),
            "The widest and sparsest net needs more training operations than the dense one of"
            " equal weights.",
        ),
    ),
    figure=".models.loss_figures:ladder_panels",
    caption="Left: train loss of deep nets of equal hidden weights, wider and sparser to the"
    f" right, with the hyperparameters of the dense net. {SPREAD} Right: training operations of"
    f" each net over those of the dense one, masked weights counted as free. {NOT_PUBLISHED}",
    alt="Train loss of SP, μP and SμPar on four nets of equal weights and growing width, and the"
    " ratio of their training operations to the dense net's.",
)
