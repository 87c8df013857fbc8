"""Table 7: three seeds of the layers."""

from harness.declare import Layout, Line, Task, at_least, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import LAYER_SEEDS, runs
from reproductions.lisa.models.layouts import HEADS, HELD_OUT
from reproductions.lisa.models.names import NAMES

MODEL = NAMES["llama-2-7b"]
LAYOUT = Layout(
    rows=(Line(HEADS["lisa"], group=MODEL, where={"setting": "usual"}),),
    columns=table.BY_LAYER_SEED,
    cell=table.LOSS,
    ours=True,
)
BESIDE = Layout(
    rows=table.lines("lora", "lora_ends", "blocks_0", group=MODEL),
    columns=(Line(HELD_OUT),),
    cell=table.LOSS,
    title="Methods that draw no layers",
    notes=("These rows are not the paper's.",),
)
task = Task(
    "lisa/tab07",
    reads=(runs,),
    table=table.ends("usual", "lora", "lora_ends", "blocks_0", layer_seeds=LAYER_SEEDS),
    layout=(LAYOUT, BESIDE),
    claims=claims(
        "Table 7",
        (
            "seed_spread_below_gain",
            q.TRAINED,
            at_least(q.gain_minus_spread, 0, "nats").measuring("gain less the range over seeds"),
            "Another seed of the layers changes the loss by less than the sampled blocks gain.",
        ),
    ),
    figure="figures:ends_by_setting",
    caption="Held-out loss of LISA with two blocks and K = 13, over three seeds of the layers,"
    f" beside LoRA and LISA without blocks. {q.DOTS} {q.MT_BENCH}",
    alt="Held-out loss of single runs of LoRA, of LISA and of LISA without blocks over seeds.",
)
