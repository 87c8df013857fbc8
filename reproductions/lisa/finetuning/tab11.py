"""Table 11: the number of blocks against the learning rate."""

from functools import partial

from harness.declare import Layout, Task, bind, claims, monotone
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import BY_GAMMA, rates
from reproductions.lisa.finetuning.pilot_in_house import by_rate
from reproductions.lisa.models.layouts import ALL_BLOCKS

LAYOUT = Layout(
    rows=table.lines(*BY_GAMMA),
    columns=by_rate("learning rate; held-out loss, in the paper GSM8K"),
    cell=table.LOSS,
    notes=(ALL_BLOCKS, "The rates are not the paper's."),
    ours=True,
)
task = Task(
    "lisa/tab11",
    reads=(rates,),
    table=table.ends(*BY_GAMMA),
    layout=LAYOUT,
    claims=claims(
        "Table 11",
        (
            "best_rate_falls_with_gamma",
            q.TRAINED,
            monotone(partial(q.rate_steps, settings=BY_GAMMA), "factors of 2")
            .naming("2 to 4 blocks", "4 to 8 blocks")
            .measuring("fall of the best rate"),
            "The more blocks LISA trains at once, the lower its best learning rate.",
        ),
    ),
    figure=bind("figures:rates", value="test_loss", split="held-out"),
    caption="Held-out loss against the learning rate. The paper has GSM8K accuracies here."
    f" {q.SPREAD}",
    alt="Held-out loss against learning rate, one line per number of blocks.",
)
