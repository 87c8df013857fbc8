"""Table 11: the number of blocks against the learning rate."""

from __future__ import annotations

from functools import partial

from harness.declare import Layout, Line, Task, bind, claims, monotone
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import LRS, runs
from reproductions.lisa.models.layouts import ALL_BLOCKS

LAYOUT = Layout(
    rows=tuple(Line(f"gamma = {gamma}", where={"gamma": gamma}) for gamma in (2, 4, 8, 0)),
    columns=tuple(
        Line(f"{lr:g}", group="learning rate; held-out loss, in the paper GSM8K", where={"lr": lr})
        for lr in LRS
    ),
    cell=table.LOSS,
    notes=(
        ALL_BLOCKS,
        "The rates are not the paper's, nor is the last row.",
    ),
    ours=True,
)
task = Task(
    "lisa/tab11",
    reads=(runs,),
    table=table.ends(table.Shown(methods=("lisa",), gammas=(0, 2, 4, 8), rates="all")),
    layout=LAYOUT,
    claims=claims(
        "Table 11",
        (
            "best_rate_falls_with_gamma",
            q.TRAINED,
            monotone(partial(q.rate_steps, gammas=(2, 4, 8), chosen=q.LISA), "factors of 2")
            .naming("2 to 4 blocks", "4 to 8 blocks")
            .measuring("fall of the best rate"),
            "The more blocks LISA trains at once, the lower its best learning rate.",
        ),
    ),
    figure=bind("figures:rates", column="gamma"),
    caption="Held-out loss against the learning rate. The paper has GSM8K accuracies here."
    f" {q.SPREAD}",
    alt="Held-out loss against learning rate, one line per number of blocks.",
)
