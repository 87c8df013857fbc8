"""How measured steps are printed: predicted beside measured, and gains beside those quoted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.declare import Cell, Layout, Line
from reproductions.paro.measured_steps.experiment import (
    ACCUMULATED,
    ACCUMULATION,
    BASELINES,
    OURS,
    SCALED,
    Question,
    settings_of,
)
from reproductions.paro.method.peers import NAMED

ORDERS = "Compare orders, not sizes."
PREDICTED = "Predicted: communication alone, with one ring, at the rates that the ranks measured."
NEAREST = "PyTorch's own stand beside the formula of the strategy that each is or comes nearest to."
WAYS = {"rail": "a link per rank", "shared": "one link per group"}
SECONDS = Cell("step_s", unit="s", digits=3)
SAMPLES = Cell("samples_per_s", unit="1/s", digits=1)
MEGA = 1e6
TIMES = tuple(dict.fromkeys(s.accumulation for s in settings_of("accumulation", ACCUMULATION)))
"""Micro-batches per step that are compared."""


def name_of(setting: str) -> str:
    """Return a setting as a table names it.

    >>> name_of("GGG"), name_of("DDP")
    ('GGG (ZeRO-3)', 'DDP, which is NNN')
    """
    if setting in BASELINES:
        return f"{setting}, which is {BASELINES[setting]}"
    return f"{setting} ({NAMED[setting]})" if setting in NAMED else setting


def by_setting(names: Iterable[str]) -> tuple[Line, ...]:
    """Return a row per setting."""
    return tuple(Line(name_of(name), where={"setting": name}) for name in names)


def timed(where: Mapping[str, Mapping[str, int]]) -> tuple[Line, ...]:
    """Return columns of a step's time, predicted and measured, and of rows per second.

    where: by what stands above them.
    """
    cells = {
        "predicted, s": Cell("predicted_s", digits=3), "measured, s": SECONDS, "rows/s": SAMPLES,
    }  # fmt: skip
    return tuple(
        Line(head, group=group, where=rows, cell=cell)
        for group, rows in where.items()
        for head, cell in cells.items()
    )


def in_mega(value: str, *, seeded: bool = False) -> Cell:
    """Return the cell of a column of bytes, in MB."""
    return Cell(value, scale=MEGA, digits=1, seeded=seeded)


def step_layout(question: Question, nic: str, title: str) -> Layout:
    """Return throughput and memory of every strategy and baseline."""
    time, held, out = "seconds per step", "held per rank, MB", "out of a group per step, MB"
    return Layout(
        rows=by_setting((*OURS, *BASELINES)),
        columns=(
            Line("predicted", group=time, cell=Cell("predicted_s", digits=3)),
            Line("measured", group=time, cell=SECONDS),
            Line("rows per second", cell=SAMPLES),
            Line("predicted", group=held, cell=in_mega("predicted_held_bytes")),
            Line("counted", group=held, cell=in_mega("held_bytes")),
            Line("predicted", group=out, cell=in_mega("predicted_between_bytes")),
            Line("at interfaces", group=out, cell=in_mega("interface_bytes", seeded=True)),
        ),
        cell=SECONDS,
        where={"question": question, "nic": nic},
        title=f"{title}: {WAYS[nic]}",
        notes=(PREDICTED, NEAREST),
        ours=True,
    )


def gain_layout(
    *quoted: str, stages: tuple[int, ...], where: dict[str, str | int] | None = None
) -> Layout:
    """Return gains that the text quotes beside ours, measured and predicted.

    quoted: model and strategy of each, as the reference names its series.
    """
    return Layout(
        rows=tuple(
            Line(series, where={"setting": series.split()[-1]}, paper={"series": series})
            for series in quoted
        ),
        columns=tuple(
            Line(
                head, group=f"over ZeRO-{stage}", cell=Cell(column, unit="%", digits=0), paper=paper
            )
            for stage in stages
            for head, column, paper in (
                (
                    "measured",
                    f"gain_over_zero{stage}",
                    {"y_name": f"throughput_gain_over_ZeRO-{stage}"},
                ),
                ("predicted", f"predicted_gain_over_zero{stage}", {}),
            )
        ),
        cell=Cell(f"gain_over_zero{stages[0]}", unit="%", digits=0),
        where={"nic": "rail", **(where or {})},
        title="Gains that the text quotes, beside ours",
        notes=(ORDERS, PREDICTED),
        ours=True,
    )


ACCUMULATION_LAYOUT = Layout(
    rows=by_setting(ACCUMULATED),
    columns=timed({f"s = {times}": {"accumulation": times} for times in TIMES}),
    cell=SECONDS,
    where={"question": "accumulation"},
    title="Seconds per step and rows per second, by micro-batches per step (s)",
    notes=(PREDICTED,),
    ours=True,
)


def scaling_layout(numbers: tuple[int, ...]) -> Layout:
    """Return rows per second by ranks."""
    return Layout(
        rows=by_setting(SCALED),
        columns=timed({f"{number} ranks": {"num_ranks": number} for number in numbers}),
        cell=SECONDS,
        where={"question": "scaling", "accumulation": ACCUMULATION},
        title="Seconds per step and rows per second, by ranks in groups of two",
        notes=(PREDICTED,),
        ours=True,
    )
