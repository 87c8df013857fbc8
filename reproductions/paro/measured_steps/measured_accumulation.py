"""Tables 14 and 15 on a testbed: some strategies by micro-batches per step."""

from functools import partial

from harness.declare import Task, claims, more_than
from reproductions.paro.measured_steps import quantities as q
from reproductions.paro.measured_steps.experiment import steps
from reproductions.paro.measured_steps.table import (
    ACCUMULATION_LAYOUT,
    TIMES,
    gain_layout,
    table_of,
)

MOST = TIMES[-1]
task = Task(
    "paro/measured_accumulation",
    own_kind="ablation",
    reads=(steps,),
    table=table_of("accumulation"),
    layout=(
        ACCUMULATION_LAYOUT,
        gain_layout("LLaMA-7B NNI", stages=(1,), where={"accumulation": MOST}),
    ),
    claims=claims(
        "appendix A.4.3",
        (
            "nni_faster_than_zero1",
            q.MEASURED,
            q.faster(("NNI", "NNG"), where={**q.RAIL, "accumulation": MOST}),
            "NNI trains faster than ZeRO-1 at the same batch.",
        ),
        (
            "best_iig_over_zero3",
            q.MEASURED,
            more_than(partial(q.over_each, one="IIG", over="GGG"), 1, "times the speed")
            .naming(*(f"over s = {times}" for times in TIMES))
            .measuring(f"IIG's with s = {MOST}"),
            "IIG's best throughput over batches is above ZeRO-3's best.",
        ),
    ),
    figure="figures:accumulation_panels",
    caption="Rows per second against micro-batches per step, measured (left) and predicted by"
    " communication alone at the rates that the ranks measured (right). Bars: standard error over"
    " seeds.",
    alt="Two panels of five lines against micro-batches per step, on doubled axes: NNI highest,"
    " lines of NIG, IIG and NNG rise with more micro-batches, that of ZeRO-3 stays flat at the"
    " bottom.",
)
