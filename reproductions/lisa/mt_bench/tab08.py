"""Table 8: MT-Bench by category."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.old import old_task
from reproductions.lisa.mt_bench import experiment as mt_bench
from reproductions.lisa.mt_bench.claims import BY_CATEGORY
from reproductions.lisa.mt_bench.table import CATEGORY_COLUMNS, category_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext


def draw(context: FigureContext) -> Figure:
    """Draw a panel a model, a series a method over categories."""
    from reproductions.lisa.mt_bench.figures import category_panels

    return category_panels(context)


task = old_task(
    id="lisa/tab08",
    title="MT-Bench by category",
    reads=(mt_bench.untuned, mt_bench.experiment, mt_bench.given),
    columns=CATEGORY_COLUMNS,
    claims=BY_CATEGORY,
    view=category_table,
    figure=draw,
    caption="Mean rating by a judge model of the 20 answers of a category, from 1 to 10, by"
    " method. Filled: ours, mean and standard error over training seeds. Hollow and dashed: an"
    " early version of the paper, without coding. A panel without filled marks has no rating, as"
    " no judge was asked.",
    alt="One panel a model with the mean MT-Bench rating in each category, a line a method; in the"
    " early version math is the lowest category of nearly every method.",
)
