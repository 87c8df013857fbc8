"""Table 12: layers drawn anew against layers drawn once."""

from harness.declare import Layout, Line, Task, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import LAYER_SEEDS, PERIOD, runs
from reproductions.lisa.models.names import NAMES

LAYOUT = Layout(
    rows=tuple(
        Line(head, group=NAMES["llama-2-7b"], where={"setting": name})
        for name, head in (("usual", "LISA"), ("once", "LISA-fix"))
    ),
    columns=table.BY_LAYER_SEED,
    cell=table.LOSS,
    notes=(f"LISA has K = {PERIOD}; LISA-fix draws once.",),
    ours=True,
)
task = Task(
    "lisa/tab12",
    reads=(runs,),
    table=table.ends("usual", "once", layer_seeds=LAYER_SEEDS),
    layout=LAYOUT,
    claims=claims(
        "Table 12",
        (
            "drawing_anew_is_no_worse",
            q.TRAINED,
            q.no_higher("usual", "once", "loss of LISA less that of layers drawn once"),
            "Drawing the layers anew does at least as well as keeping the first draw.",
        ),
    ),
    figure="figures:ends_by_setting",
    caption="Held-out loss of LISA with two blocks, drawn every 13 steps or once."
    f" {q.OWN_RATE} {q.DOTS} {q.MT_BENCH}",
    alt="Held-out loss of single runs with layers drawn every few steps, or once.",
)
