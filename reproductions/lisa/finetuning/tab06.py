"""Table 6: number of blocks and sampling period."""

from dataclasses import replace
from functools import partial

from harness.declare import Layout, Line, Task, at_least, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import runs
from reproductions.lisa.models.layouts import ALL_BLOCKS
from reproductions.lisa.models.names import NAMES, QUALITY

PRINTED = (
    (8, 1, "all_blocks"), (8, 5, "all_blocks"), (2, 5, "every_5"), (2, 25, "every_25"),
    (2, 122, "once"),
)  # fmt: skip
BESIDE = ((4, 13, "blocks_4"), (2, 1, "every_step"), (2, 13, "usual"))
LAYOUT = Layout(
    rows=tuple(
        Line(
            f"K = {period}",
            group=f"gamma = {gamma}",
            where={"setting": name},
            paper={"series": f"gamma={gamma}", "x": str(period)},
        )
        for gamma, period, name in (*PRINTED, *BESIDE)
    ),
    columns=(
        *(
            Line(
                NAMES[model],
                group="MT-Bench",
                where={"model": model},
                cell=replace(table.LOSS, unit="points", digits=2),
                paper={"series": model},
            )
            for model in ("tinyllama", "llama-2-7b")
        ),
        Line(NAMES[QUALITY], group="held-out loss", where={"model": QUALITY}),
    ),
    cell=table.LOSS,
    notes=(
        "Ours are held-out losses, not MT-Bench scores: lower is better.",
        ALL_BLOCKS,
        f"The last {len(BESIDE)} rows are not the paper's.",
        "K is in steps; the early version calls it a frequency.",
    ),
)
task = Task(
    "lisa/tab06",
    reads=(runs,),
    table=table.ends(*(name for *_, name in (*PRINTED[1:], *BESIDE))),
    layout=LAYOUT,
    claims=claims(
        "Table 6",
        (
            "more_blocks_are_better",
            q.TRAINED,
            q.no_higher("blocks_4", "usual", "loss with four blocks less that with two"),
            "More blocks are better: gamma = 4 does at least as well as gamma = 2.",
        ),
        (
            "one_draw_is_worst",
            q.TRAINED,
            at_least(partial(q.later_draws, settings=("every_25", "every_5")), 0, "nats")
            .naming("beside K = 25", "beside K = 5")
            .measuring("loss of one draw less that of later draws"),
            "Drawing the blocks once does no better than K = 25 and K = 5.",
        ),
    ),
    figure="figures:ends_by_setting",
    caption=f"Held-out loss of LISA by numbers of blocks and period. {q.OWN_RATE} Dots:"
    f" runs, one per seed; lines: their mean. {q.MT_BENCH}",
    alt="Held-out loss of single runs for several numbers of blocks and sampling periods.",
)
