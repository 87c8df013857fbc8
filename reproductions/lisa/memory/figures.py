"""Figures of memory: Table 1's models side by side, and Figure 3's stacked bars."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.declare.reference import standings
from harness.publish.figures import PALETTE, FigureContext, points
from reproductions.lisa.memory.quantities import ACTIVATIONS_GB, length_near
from reproductions.lisa.memory.table import A_SHARE, SHARED
from reproductions.lisa.models.figures import legend_above, stacked_parts
from reproductions.lisa.models.layouts import blocks_head
from reproductions.lisa.models.names import TITLES

RTX_4090_GB = 24.0
"""The line of Figure 3."""
SHOWN_LEN = 512
AT_THE_PAPERS = "llama-2-7b"
"""Drawn in Figure 3 at the length whose activations are nearest to the paper's."""
HOW = {
    "count": ("o", "tensors counted in a step"),
    "arithmetic": ("D", "by arithmetic, nothing run"),
    "gpu": ("D", "by arithmetic"),
}
"""Mark and words of a sum of tensors, by how it came about."""


def peak_panels(context: FigureContext) -> Figure:
    """Draw one panel per model: full training, LoRA by rank, LISA by blocks, GaLore."""
    steps = _counted_where_possible(context.table[context.table["part"] == "step"])
    shapes = [shape for shape in TITLES if (steps["shape"] == shape).any()]
    drawn = context.reference[context.reference["series"].isin(TITLES[shape] for shape in shapes)]
    columns = min(len(shapes), 3)
    figure, axes = context.subplots(-(-len(shapes) // columns), columns, aspect=0.85)
    for ax, shape in zip(axes, shapes, strict=False):
        # The paper's adapters have dropout; those without are in the table.
        plain = (steps["method"] == "lora") & (steps["dropout"] == 0.0)
        rows = steps[(steps["shape"] == shape) & ~plain]
        if (rows["seq_len"] == SHOWN_LEN).any():
            rows = rows[rows["seq_len"] == SHOWN_LEN]
        _dots(ax, rows, drawn[drawn["series"] == TITLES[shape]])
        shared = (
            f"\n{standings(drawn['status'])}: {A_SHARE}" if shape == SHARED and len(drawn) else ""
        )
        ax.set_title(f"{TITLES[shape]}{shared}")
    for ax in axes[len(shapes) :]:
        ax.remove()
    _legend(figure, drawn, steps, num_columns=1 if context.width == "single" else 4)
    return figure


def breakdown_bars(context: FigureContext) -> Figure:
    """Draw a panel per model, a stacked bar per method; the paper's totals hollow and dashed."""
    table = _counted_where_possible(context.table)
    shapes = [shape for shape in TITLES if (table["shape"] == shape).any()]
    columns = 1 if context.width == "single" else len(shapes)
    figure, axes = context.subplots(-(-len(shapes) // columns), columns, aspect=0.6)
    for ax, shape in zip(axes, shapes, strict=True):
        rows = table[table["shape"] == shape]
        if shape == AT_THE_PAPERS:
            rows = rows[rows["seq_len"] == length_near(table, shape=shape, saved_gb=ACTIVATIONS_GB)]
        size, unit = _unit(rows["total_bytes"])
        stacked_parts(ax, rows, [_bar_name(row) for _, row in rows.iterrows()], size=size)
        if shape == AT_THE_PAPERS:
            ax.axvline(RTX_4090_GB * 1e9 / size, color=PALETTE[6], ls=":", label="an RTX 4090")
            _paper_totals(ax, rows, context.reference)
        if shape == AT_THE_PAPERS and not context.reference.empty:
            ax.text(
                0.98, 0.04, "length chosen for\nactivations nearest\nto the paper's",
                transform=ax.transAxes, ha="right", va="bottom", fontsize=points(6.0),
            )  # fmt: skip
        ax.set_title(_bars_title(rows))
        ax.set_xlabel(f"memory ({unit})")
    legend_above(figure, axes[:1], columns=3)
    return figure


def _bars_title(rows: pd.DataFrame) -> str:
    """Say of which model a panel is, at which length, and how its numbers came about."""
    shape, _, how = rows["shape"].iloc[0], *HOW[rows["how"].iloc[0]]
    return f"{TITLES[shape]}, {rows['seq_len'].iloc[0]} tokens\n({how})"


def label_of(row: pd.Series) -> str:
    """Return a method's name as Table 1 writes it."""
    match row["method"]:
        case "lora":
            return f"LoRA {row['rank']}"
        case "lisa":
            return blocks_head(row["gamma"])
        case "galore":
            return f"GaLore {row['rank']}"
    return "full"


def _counted_where_possible(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out arithmetic beside a real step, which it equals."""
    counted = table.loc[table["how"] == "count", "shape"].unique()
    return table[(table["how"] != "arithmetic") | ~table["shape"].isin(counted)]


def _dots(ax: Axes, rows: pd.DataFrame, reference: pd.DataFrame) -> None:
    size, unit = _unit(rows["total_bytes"])
    labels = [label_of(row) for _, row in rows.iterrows()]
    mark, _ = HOW[rows["how"].iloc[0]]
    for column, marker in (("total_bytes", mark), ("peak_allocated_bytes", "^")):
        values = rows[column].astype("float64") / size
        ax.plot(range(len(rows)), values.to_numpy(), marker=marker, color=PALETTE[0], ls="none")
    if not reference.empty:
        found = reference.set_index("y_name")["value"]
        heights = [found.get(_reference_name(row), float("nan")) for _, row in rows.iterrows()]
        ax.plot(
            range(len(rows)), heights, marker="s", mfc="none", color=PALETTE[1], ls="--"
        )  # fmt: skip
    ax.set_xticks(range(len(rows)), labels, rotation=60, ha="right")
    ax.set_ylim(0.0, 1.08 * ax.get_ylim()[1])
    ax.set_ylabel(f"memory ({unit})")


def _reference_name(row: pd.Series) -> str:
    """Return what the paper's value is called; GaLore, which its table lacks, has a name alone."""
    match row["method"]:
        case "full":
            return "vanilla"
        case "lora":
            return f"lora_r{row['rank']}"
    return f"{row['method']}_{label_of(row)}"


def _bar_name(row: pd.Series) -> str:
    if row["method"] != "lora":
        return label_of(row)
    return f"{label_of(row)}, " + (
        f"dropout {row['dropout']:g}" if row["dropout"] else "no dropout"
    )


def _paper_totals(ax: Axes, rows: pd.DataFrame, reference: pd.DataFrame) -> None:
    """Draw outlines of the paper's totals; it has LoRA with dropout."""
    totals = reference[reference["y_name"] == "total"].set_index("series")["value"]
    names = {"full": "Baseline", "lora": "LoRA", "lisa": "LISA"}
    label = f"total ({standings(reference['status'])})"
    for place, (_, row) in enumerate(rows.iterrows()):
        if names[row["method"]] not in totals or (row["method"] == "lora" and not row["dropout"]):
            continue
        ax.barh(
            [place], [totals[names[row["method"]]]], height=0.8, fill=False, ls="--",
            edgecolor=PALETTE[6], label=label,
        )  # fmt: skip
        label = "_"


def _unit(values: pd.Series) -> tuple[float, str]:
    return (1e9, "GB") if values.max() >= 1e9 else (1e6, "MB")


def _legend(
    figure: Figure, reference: pd.DataFrame, steps: pd.DataFrame, *, num_columns: int
) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=PALETTE[0], marker=marker, ls="none", label=label)
        for how, (marker, label) in HOW.items()
        if (steps["how"] == how).any()
    ]
    if steps["peak_allocated_bytes"].notna().any():
        handles.append(
            Line2D([], [], color=PALETTE[0], marker="^", ls="none", label="allocator's peak")
        )
    if not reference.empty:
        words = f"Table 1 ({standings(reference['status'])})"
        handles.append(
            Line2D([], [], color=PALETTE[1], marker="s", mfc="none", ls="--", label=words)
        )
    figure.legend(handles=handles, loc="outside upper center", ncols=num_columns)
