"""Ours: what becomes of the optimizer's states of blocks that are frozen again."""

from functools import partial

from harness.declare import Cell, Layout, Line, Task, at_least, at_most, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import runs

task = Task(
    "lisa/states",
    own_kind="ablation",
    reads=(runs,),
    table=table.ends("usual", "keep_all", "reset_all"),
    layout=Layout(
        rows=(
            Line("states of frozen blocks dropped", where={"setting": "usual"}),
            Line("states kept", where={"setting": "keep_all"}),
            Line("all states dropped", where={"setting": "reset_all"}),
        ),
        columns=(
            Line("held-out", cell=table.LOSS),
            Line("training", cell=Cell("train_loss", unit="nats", digits=3)),
            Line("rate", cell=Cell("lr", digits=4, seeded=False)),
        ),
        title="Loss after fine-tuning",
        ours=True,
    ),
    claims=claims(
        "ours, beside Algorithm 1, which does not say what becomes of the optimizer's states",
        (
            "dropping_states_costs_nothing",
            q.TRAINED.asked_by_us(),
            at_most(
                partial(q.difference, one="usual", other="keep_all"), q.ALIKE, "nats"
            ).measuring("loss with states dropped less that with states kept"),
            "Dropping the states of blocks that are frozen again ends no more than 0.02 nats above"
            " keeping them.",
        ),
        (
            "resetting_all_is_no_better",
            q.TRAINED.asked_by_us(),
            at_least(partial(q.difference, one="reset_all", other="usual"), 0, "nats").measuring(
                "loss with all states dropped less that with those of frozen blocks"
            ),
            "Dropping all states, those of embeddings and head too, does no better than dropping"
            " those of frozen blocks.",
        ),
    ),
    figure="figures:ends_by_setting",
    caption="Held-out loss of LISA with two blocks and K = 13 by what becomes of the optimizer's"
    f" states at a switch. {q.OWN_RATE} Dots: runs, one per seed; lines: their mean.",
    alt="Held-out loss of single runs by policy for the optimizer's states.",
)
