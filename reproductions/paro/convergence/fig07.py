"""Figure 7: training loss by strategy, on a small net."""

from functools import partial

from harness.declare import (
    CPU,
    SMALL_CHECK,
    Cell,
    Layout,
    Line,
    Task,
    at_most,
    claims,
    ours,
)
from reproductions.paro.convergence import quantities as q
from reproductions.paro.convergence.experiment import PYTORCH, trainings
from reproductions.paro.convergence.table import LOSSES
from reproductions.paro.method.strategy import EFFECTIVE

STEPS = 50
LEAST_LEARNT = 0.8
"""Of the first loss at most is left: ten times what losses may differ by has been learnt."""
SMOKE_IS_SHORT = "smoke takes two steps in float64"
LEARNS = ours("DEV-43", profiles=CPU, elsewhere=SMOKE_IS_SHORT).controlled(
    "one process learns: a fifth of its loss at least is gone after 50 steps",
    at_most(partial(q.share_left, precision="bfloat16"), LEAST_LEARNT, "of the first loss"),
)
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
    title="Largest relative difference from the loss of one process, over 50 steps",
    notes=("s: micro-batches of a step. DDP cannot train in bfloat16 over float32 masters.",),
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
            SMALL_CHECK,
            at_most(partial(q.largest_difference, precision="float64"),
                    q.TOLERANCES["float64"], "relative difference"),
            "In float64 every strategy, DDP and FSDP2 have the losses of one process.",
        ),
        (
            "paro_converges_as_zero3",
            LEARNS,
            at_most(partial(q.largest_between, precision="bfloat16"),
                    q.TOLERANCES["bfloat16"], "relative difference"),
            "NIG, IGG and IIG converge as ZeRO-3 does.",
        ),
    )
    + claims(
        "ours, beside Figure 7",
        (
            "bfloat16_as_one_process",
            LEARNS.asked_by_us(),
            at_most(partial(q.largest_difference, precision="bfloat16", micro_steps=4),
                    q.TOLERANCES["bfloat16"], "relative difference"),
            "In bfloat16 the losses of ZeRO-3, NIG, IGG, IIG and FSDP2 differ from one process's by"
            " at most 2 % at the worst step, in the mean over seeds.",
        ),
    ),
    figure="figures:loss_panels",
    caption="Left: training loss of NIG, IGG and IIG beside ZeRO-3 (GGG), FSDP2 and one process, in"
    " bfloat16; mean and standard error over seeds. Right: largest relative difference from one"
    " process so far, for every strategy (lines), DDP and FSDP2 (crosses); dash-dotted: what each"
    " type of number is allowed.",
    alt="Left panel: losses of six ways of training fall from 4.2 to below 3 nats on one another,"
    " so that a single curve is seen. Right panel: three bands of differences on a log scale, up to"
    " 1e-13 for float64, 1e-5 for float32 and some hundredths for bfloat16.",
)  # fmt: skip
