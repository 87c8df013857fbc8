"""Table 10: LISA without sampled blocks."""

from harness.declare import Layout, Line, Task, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import runs
from reproductions.lisa.models.layouts import HELD_OUT, blocks_head
from reproductions.lisa.models.names import NAMES, QUALITY

LAYOUT = Layout(
    rows=tuple(
        Line(blocks_head(gamma), group="LISA", where={"setting": name})
        for gamma, name in ((0, "blocks_0"), (2, "usual"))
    ),
    columns=(Line(NAMES["llama-2-7b"], group=HELD_OUT, where={"model": QUALITY}),),
    cell=table.LOSS,
    ours=True,
)
task = Task(
    "lisa/tab10",
    reads=(runs,),
    table=table.ends("blocks_0", "usual"),
    layout=LAYOUT,
    claims=claims(
        "Table 10",
        (
            "blocks_help",
            q.TRAINED,
            q.no_higher("usual", "blocks_0", "loss with two blocks less that with none"),
            "LISA with two sampled blocks does at least as well as with embeddings and head alone.",
        ),
    ),
    figure="figures:ends_by_setting",
    caption=f"Held-out loss. {q.OWN_RATE} Dots: runs, one per seed; lines: their mean."
    f" {q.MT_BENCH}",
    alt="Held-out loss of single runs of LISA without blocks and with two.",
)
