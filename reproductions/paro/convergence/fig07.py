"""Figure 7: training loss by strategy, on a small net."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Cell,
    Layout,
    Line,
    Task,
    at_least,
    at_most,
    claims,
    more_than,
)
from reproductions.paro.convergence import quantities as q
from reproductions.paro.convergence.experiment import PYTORCH, trainings
from reproductions.paro.convergence.table import LOSSES
from reproductions.paro.method.strategy import EFFECTIVE

STEPS = 50
SMOKE_IS_SHORT = "smoke takes two steps in float64"
EVERYWHERE = CHECK.at(*SMOKE_AND_CPU, elsewhere="a larger scale shows nothing new of this")
AT_CPU = CHECK.at(*CPU, elsewhere=SMOKE_IS_SHORT)
METHODS = {
    **{s.letters: s.letters for s in EFFECTIVE},
    **{n: f"{n} ({s})" for n, s in PYTORCH.items()},
}
COLUMNS = tuple(
    Line(f"s = {s}", group=precision, where={"precision": precision, "micro_steps": s})
    for precision, counts in (("float64", (1, 4, 8)), ("float32", (1, 4, 8)), ("bfloat16", (1, 4)))
    for s in counts
)
LAYOUT = Layout(
    rows=tuple(Line(words, where={"method": name}) for name, words in METHODS.items()),
    columns=COLUMNS,
    cell=Cell("largest_difference", scale=1e-9, unit="1e-9", digits=1),
    where={"step": STEPS},
    title="Largest relative difference of a loss from one process, over 50 steps",
    notes=(
        "The paper has a figure here, and no table.",
        "s: micro-batches of a step. FSDP2 and ours sum gradients of bfloat16 in bfloat16; DDP"
        " has no such setting.",
    ),
    inferred=True,
)

task = Task(
    "paro/fig07",
    reads=(trainings,),
    table=LOSSES,
    layout=LAYOUT,
    claims=claims(
        "section 4.6 and Figure 7",
        (
            "float64_as_one_process",
            EVERYWHERE,
            at_most(partial(q.largest_difference, precision="float64"),
                    q.TOLERANCES["float64"], "relative difference"),
            "In float64 every strategy, DDP and FSDP2 have the losses of AdamW on one process with"
            " the whole batch (largest difference of all steps, with 1, 4 and 8 micro-batches).",
        ),
        (
            "float32_as_one_process",
            AT_CPU,
            at_most(partial(q.largest_difference, precision="float32"),
                    q.TOLERANCES["float32"], "relative difference"),
            "So they have in float32.",
        ),
        (
            "steps_are_clipped",
            EVERYWHERE,
            more_than(q.least_clipped, 0.5, "share of steps"),
            "Clipping is at work: in every run most steps are clipped (least share).",
        ),
        (
            "units_are_padded",
            EVERYWHERE,
            at_least(q.least_padding, 1, "entries"),
            "Padding is at work: in every run every unit is padded (least number of entries).",
        ),
        (
            "paro_converges_as_zero3",
            AT_CPU,
            at_most(partial(q.largest_between, precision="bfloat16"),
                    q.TOLERANCES["bfloat16"], "relative difference"),
            "In bfloat16 over masters in float32 NIG, IGG and IIG have the losses of ZeRO-3 (GGG):"
            " largest difference between any two, four micro-batches.",
        ),
    )
    + claims(
        "ours, beside section 4.6",
        (
            "bfloat16_as_one_process",
            AT_CPU,
            at_most(partial(q.largest_difference, precision="bfloat16"),
                    q.TOLERANCES["bfloat16"], "relative difference"),
            "In bfloat16 all strategies that ran have the losses of one process in the same types.",
        ),
    ),
    figure="figures:loss_panels",
    caption="Left: training loss of NIG, IGG and IIG beside ZeRO-3 (GGG), FSDP2 and one process,"
    " bfloat16 over masters in float32, four micro-batches, mean and standard error over three"
    " seeds. Right: largest relative difference from one process until a step, of every strategy"
    " (lines), DDP and FSDP2 (marks), by the type of numbers; dash-dotted: what our checks allow."
    " Four ranks in two groups. The paper's curves are in a picture.",
    alt="Left panel: losses of five ways of training fall from 4.2 to below 3 nats on one another,"
    " so that a single curve is seen. Right panel: three bands of differences on a log scale, near"
    " 1e-15 for float64, 1e-7 for float32 and 1e-3 for bfloat16, each below its"
    " dash-dotted line.",
)  # fmt: skip
