"""Tables 14 and 15 on a testbed: some strategies by micro-batches per step."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from harness.declare import Task, at_least, claims, more_than
from reproductions.paro.measured_steps import quantities as q
from reproductions.paro.measured_steps.experiment import steps
from reproductions.paro.measured_steps.layouts import ACCUMULATION_LAYOUT, TIMES, gain_layout
from reproductions.paro.measured_steps.scopes import MEASURED
from reproductions.paro.measured_steps.table import table_of

STEPS = tuple(f"{few} to {many} micro-batches" for few, many in pairwise(TIMES))
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
            "nni_over_zero1",
            MEASURED,
            more_than(
                partial(
                    q.speed_ratio, one="NNI", over="NNG", where={**q.RAIL, "accumulation": MOST}
                ),
                1,
                "times the speed",
            ),
            f"At {MOST} micro-batches per step of a small net, over shaped links, NNI is faster"
            " than ZeRO-1 (the paper: of LLaMA-7B by 48.7 %).",
        ),
        (
            "best_iig_over_best_zero3",
            MEASURED,
            more_than(partial(q.best_over_best, one="IIG", over="GGG"), 1, "times the speed"),
            "The best throughput of IIG over batches, of a small net over shaped links, is above"
            " ZeRO-3's (the paper: of LLaMA-65B by 32 %).",
        ),
    )
    + claims(
        "ours, beside appendix A.3, formulas 1 and 2",
        (
            "more_micro_batches_are_faster",
            MEASURED.asked_by_us(),
            at_least(partial(q.rises, names=("IIG", "NIG")), 1, "ratio").naming(
                *(f"{name}, {step}" for name in ("IIG", "NIG") for step in STEPS)
            ),
            "IIG and NIG take more rows per second, the more micro-batches a step has.",
        ),
        (
            "iig_gains_on_zero3",
            MEASURED.asked_by_us(),
            at_least(partial(q.ratio_rises, one="IIG", over="GGG"), 1, "ratio").naming(*STEPS),
            "The ratio of IIG's speed to ZeRO-3's does not fall with more micro-batches per step.",
        ),
    ),
    figure="figures:accumulation_panels",
    caption="Rows per second against micro-batches per step, four rows each, on four ranks in two"
    " groups: lines measured (left) and predicted by communication alone at the rates that ranks"
    " measured (right). Lines: standard error over seeds.",
    alt="Two panels of five lines against micro-batches per step, on doubled axes: NNI highest,"
    " lines of NIG, IIG and NNG rise with more micro-batches, that of ZeRO-3 stays flat at the"
    " bottom.",
)
