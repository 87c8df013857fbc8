"""Table 9: MT-Bench by category, LLaMA-2-70B."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.old import old_task
from reproductions.lisa.mt_bench import experiment as mt_bench
from reproductions.lisa.mt_bench.claims import OF_LARGEST
from reproductions.lisa.mt_bench.table import CATEGORY_COLUMNS, category_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext


def draw(context: FigureContext) -> Figure:
    """Draw a panel a model, a series a method over categories."""
    from reproductions.lisa.mt_bench.figures import category_panels

    return category_panels(context)


task = old_task(
    id="lisa/tab09",
    title="MT-Bench by category, LLaMA-2-70B",
    reads=(mt_bench.untuned, mt_bench.experiment, mt_bench.given_70b),
    columns=CATEGORY_COLUMNS,
    claims=OF_LARGEST,
    view=category_table,
    figure=draw,
    caption="As Table 8, of the largest model: the paper's at `paper`, handed in and on one GPU"
    " that holds its 138 GB, else the in-house model, about which no claim is made here. Hollow"
    " and dashed: an early version of the paper, read off a radar chart, without coding.",
    alt="Mean MT-Bench rating in each category, a line a method; in the early version's chart of"
    " LLaMA-2-70B math is by far the lowest category, and LISA leads in four of seven.",
)
