"""Figure of answers by DoLa and greedily."""

from __future__ import annotations

from matplotlib.figure import Figure

from harness.publish.figures import FigureContext
from reproductions.lisa.models.figures import end_points

WORDS = {"vanilla": "untuned", "lisa": "LISA", "greedy": "greedy", "dola": "DoLa"}


def answer_points(context: FigureContext) -> Figure:
    """Draw the runs of each model and decoding."""
    runs = {
        f"{WORDS[str(weights)]}\n{WORDS[str(decoding)]}": rows
        for (weights, decoding), rows in context.table.groupby(["weights", "decoding"], sort=False)
    }
    return end_points(context, runs, value="flexible_accuracy", label="share of right answers")
