"""Table 11: the number of blocks against the learning rate."""

from __future__ import annotations

from functools import partial

from harness.declare import Layout, Line, Task, bind, claims, monotone
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.claims import ON, SPREAD, stand_in
from reproductions.lisa.finetuning.experiment import LRS, runs
from reproductions.lisa.models.claims import IN_HOUSE
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
        "The model is the in-house one, with rates of its own; the last row is not the paper's.",
    ),
    ours=True,
)
task = Task(
    "lisa/tab11",
    reads=(runs,),
    table=table.ends(methods=("lisa",), gammas=(0, 2, 4, 8)),
    layout=LAYOUT,
    claims=claims(
        stand_in("Table 11"),
        (
            "best_rate_falls_with_gamma",
            IN_HOUSE,
            monotone(partial(q.rate_steps, gammas=(2, 4, 8), chosen=q.LISA), "factors of 2").naming(
                "2 to 4 blocks", "4 to 8 blocks"
            ),
            "The rate of least held-out loss does not rise from 2 to 4 and from 4 to 8 blocks of"
            " LLaMA-2-7B, by the parabola through the grid's best points.",
        ),
    ),
    figure=bind("figures:rates", column="gamma"),
    caption=f"Held-out loss against the learning rate. {ON[:-1]}; the paper has GSM8K accuracies"
    f" here. {SPREAD}",
    alt="Held-out loss against learning rate, one line per number of blocks.",
)
