"""Tables of measured steps, a row per setting and seed, and how they are printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from harness.declare import (
    Cell,
    Frame,
    Layout,
    Line,
    Table,
    Tables,
    columns_of,
    measured,
    param,
    value,
)
from reproductions.paro.measured_steps.experiment import (
    ACCUMULATED,
    ACCUMULATION,
    BASELINES,
    OURS,
    SCALED,
    Question,
    Steps,
    settings_of,
    steps,
)
from reproductions.paro.method.peers import NAMED

if TYPE_CHECKING:
    import numpy as np

ZERO = {1: "NNG", 2: "NGG", 3: "GGG"}
"""Stages and their letters."""
STEP_COLUMNS = (
    *columns_of(Steps, without=("probed",)),
    param("question", str, "What the row answers, where a trial answers every one."),
    param("setting", str, "Three letters, or a baseline of PyTorch's."),
    param("accumulation", int, "Micro-batches per optimizer step, s."),
    value("strategy", str, "The letters; of a baseline those that it is or comes nearest to."),
    value("testbed", str, "namespaces: links shaped by the kernel; token bucket: by the sender."),
    measured("inter_gbit_per_s", float, "B, between groups, as its ranks measured it."),
    measured("intra_gbit_per_s", float, "B', within a group, likewise."),
    measured(
        "step_s",
        float,
        "An optimizer step: median over turns of the slowest rank's; none of what"
        " a token bucket does not slow.",
        nullable=True,
    ),
    measured("samples_per_s", float, "Rows of all ranks per second.", nullable=True),
    measured("compute_s", float, "The same passes and Adam without messages, all ranks at once."),
    measured("predicted_s", float, "t_comm by formula at the measured rates, with one ring."),
    value("held_bytes", int, "Parameters, gradients, Adam's moments, counted: most of any rank."),
    value("predicted_held_bytes", float, "4, 4 and 8 bytes each, by formula."),
    value(
        "between_bytes",
        int,
        "Sent out of a group in a step, counted at the engine's messages:"
        " most of any group; PyTorch's own does not count.",
        nullable=True,
    ),
    measured(
        "interface_bytes",
        int,
        "The same at the interfaces, with headers; none without them.",
        nullable=True,
    ),
    value("predicted_between_bytes", float, "The same by formula."),
)
"""What a trial says of a setting."""
COLUMNS = (
    *STEP_COLUMNS,
    *(
        measured(
            f"{how}gain_over_zero{stage}", float,
            f"Speed over that of ZeRO-{stage} beside it, less 1, in percent{words}.", nullable=True,
        )
        for how, words in (("", ""), ("predicted_", ": by formula"))
        for stage in ZERO
    ),
)  # fmt: skip

BESIDE = ["question", "num_ranks", "nic", "accumulation", "seed"]
"""What settings share that are compared."""


def table_of(question: Question) -> Table:
    """Return the table of a question."""
    return Table.of(COLUMNS, make=partial(rows_about, question=question))


def rows_about(tables: Tables, *, question: Question) -> Frame:
    """Return the rows of a question, with gains over what took turns with them."""
    import numpy as np

    rows = tables[steps.id]
    rows = rows[rows["question"] == question].reset_index(drop=True)
    for stage, letters in ZERO.items():
        for how, column in (("", "step_s"), ("predicted_", "predicted_s")):
            theirs = of_setting(rows, letters, column, BESIDE)
            gain = 100.0 * (theirs / rows[column].astype("float64").to_numpy() - 1.0)
            # Nothing gains over itself.
            rows[f"{how}gain_over_zero{stage}"] = np.where(rows["setting"] == letters, np.nan, gain)
    return rows


def of_setting(rows: Frame, name: str, column: str, beside: list[str]) -> np.ndarray:
    """Return row by row a column of the setting of that name which shares `beside` with the row."""
    base = rows[rows["setting"] == name].set_index(beside)[column].astype("float64")
    return base.reindex(rows.set_index(beside).index).to_numpy()


ORDERS = "Compare orders, not sizes."
PREDICTED = "Predicted: communication alone, with one ring, at the rates that the ranks measured."
NEAREST = "Each of PyTorch's settings is predicted as the strategy that it is or comes nearest to."
PART_CAPTION = (
    "Left: seconds per optimizer step, measured (bars) and predicted by communication alone"
    " (marks). Right: bytes that a rank keeps."
)
PART_ALT = (
    "Horizontal bars of seconds per step for 14 strategies, DDP and three settings of FSDP2:"
    " next to nothing where parameters stay whole, longest where they are gathered between groups;"
    " marks of the prediction beside them; right, bars of bytes held."
)
"""Of figures where part of the parameters trains."""
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
        where={"nic": "rail", **(where or {})},
        title="Gains that the text quotes, beside ours",
        notes=(ORDERS, PREDICTED),
        ours=True,
    )


ACCUMULATION_LAYOUT = Layout(
    rows=by_setting(ACCUMULATED),
    columns=timed({f"s = {times}": {"accumulation": times} for times in TIMES}),
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
        where={"question": "scaling", "accumulation": ACCUMULATION},
        title="Seconds per step and rows per second, by ranks in groups of two",
        notes=(PREDICTED,),
        ours=True,
    )
