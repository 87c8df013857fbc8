"""Figure of the in-house model's pre-training."""

from __future__ import annotations

from matplotlib.figure import Figure

from harness.publish.figures import PALETTE, FigureContext, plot_ours


def loss_lines(context: FigureContext) -> Figure:
    """Draw the training loss, and the held-out loss at its end."""
    figure, (ax,) = context.subplots(aspect=0.5)
    for split, color, marker in (("train", PALETTE[0], "o"), ("held_out", PALETTE[1], "s")):
        rows = context.table[context.table["split"] == split]
        label = split.replace("_", "-")
        plot_ours(ax, rows, x="step", y="loss", label=label, color=color, marker=marker)
    ax.set_xlabel("optimizer step")
    ax.set_ylabel("loss in nats per token")
    ax.legend()
    return figure
