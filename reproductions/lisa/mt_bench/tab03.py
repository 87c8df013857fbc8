"""Table 3: MT-Bench, mean ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.old import old_task
from reproductions.lisa.mt_bench import experiment as mt_bench
from reproductions.lisa.mt_bench.claims import AVERAGE
from reproductions.lisa.mt_bench.table import AVERAGE_COLUMNS, average_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext


def draw(context: FigureContext) -> Figure:
    """Draw a panel a model, a mark a method."""
    from reproductions.lisa.mt_bench.figures import average_panels

    return average_panels(context)


task = old_task(
    id="lisa/tab03",
    title="MT-Bench, averages",
    reads=(mt_bench.untuned, mt_bench.experiment, mt_bench.given),
    columns=AVERAGE_COLUMNS,
    claims=AVERAGE,
    view=average_table,
    figure=draw,
    caption="Mean rating by a judge model of 160 answers, from 1 to 10, by method. Filled: ours,"
    " mean and standard error over training seeds. Hollow: an early version of the paper, without"
    " coding; another judge and other models than ours. A panel without filled marks has no"
    " rating, as no judge was asked.",
    alt="One panel a model with the mean MT-Bench rating of the untuned model, LoRA, GaLore, LISA"
    " and full training; in the early version LISA is highest on each model.",
)
