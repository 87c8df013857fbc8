"""Figure 10: training loss by the seed of the layers."""

from harness.declare import Task, at_most, bind, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import LAYER_SEEDS, runs

task = Task(
    "lisa/fig10",
    reads=(runs,),
    table=table.curves("train", "usual", layer_seeds=LAYER_SEEDS),
    claims=claims(
        "Figure 10",
        (
            "layer_seeds_converge_alike",
            q.TRAINED,
            at_most(q.layer_spread, 0.03, "share").measuring(
                "range over seeds by the fall of the loss"
            ),
            "The training loss ends alike for three seeds of the layers.",
        ),
    ),
    figure=bind(
        "figures:lisa_curves",
        column="layer_seed",
        label="layer seed",
        title=r"LLaMA-2-7B, $\gamma$ = 2",
    ),
    caption="LISA with two blocks and K = 13; means over 13 steps. Lines: mean over training seeds;"
    " bars: standard error.",
    alt="Training loss against steps, one line per seed of the layers; the lines lie together.",
)
