"""The table of schedules: a row per schedule, evaluation and seed; and how it is printed."""

from __future__ import annotations

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
from reproductions.fg2u.condensing.experiment import (
    DEPTHS,
    FEWER,
    HALVES,
    MORE,
    NUM_DIRECTIONS,
    Condensation,
    first_phase,
    name_of,
    point,
)

SCORES = (
    value("test_accuracy", float, "Share of test digits right, mean over fresh nets."),
    value("accuracy_sd", float, "Its standard deviation over those nets."),
    value("outer_loss", float, "Mean over the outer steps since the row before.", nullable=True),
    value("peak_bytes", int, "Live tensors of one gradient of the phase, counted."),
    measured("estimates_s", float, "Seconds of all gradients so far."),
)
FIRST_ALONE = name_of(first_phase("cpu", "hessian-free", seed=0))
TWO_PHASES = name_of(point("cpu", "hessian-free", "fg2u", seed=0))
SMALLER_STEP = name_of(point("cpu", "hessian-free", "hessian-free", seed=0))
THEN_EXACT = name_of(point("cpu", "hessian-free", "rgu", seed=0))
ONE_PHASE = {
    method: name_of(point("cpu", method, seed=0))
    for method in ("hessian-free", "neumann", "trgu", "fg2u", "rgu")
}
SCHEDULES = (
    FIRST_ALONE, SMALLER_STEP, TWO_PHASES, THEN_EXACT, *ONE_PHASE.values(),
    *(name_of(point("cpu", "fg2u", num_directions=count, seed=0)) for count in (FEWER, MORE)),
)  # fmt: skip
"""In the order of the table and the figure."""


def schedule_rows(tables: Tables) -> Frame:
    """Return the runs at the profile's depth, named."""
    (rows,) = tables.values()
    rows = rows[rows["depth"].isin(DEPTHS.values())]
    names = [name_of(row) for row in rows.itertuples()]
    return rows.assign(schedule=names).reindex(columns=SCHEDULED.names).reset_index(drop=True)


def ends(*schedules: str) -> tuple[Line, ...]:
    """Return the lines of schedules at `cpu` after their last outer step."""
    half = HALVES["cpu"]
    return tuple(
        Line(
            name,
            where={"schedule": name, "outer_step": half if name == FIRST_ALONE else 2 * half},
        )
        for name in schedules
    )


SCHEDULED = Table.of(
    param("schedule", str, "Methods and their outer steps, in turn."),
    columns_of(Condensation, "method", "second", "depth", "num_directions", "steps"),
    columns_of(Condensation, "second_steps", "lr", "second_lr"),
    param("outer_step", int, "Outer steps done; 0 for the noise that all start from."),
    columns_of(Condensation, "seed"),
    SCORES,
    make=schedule_rows,
)
LAYOUT = Layout(
    rows=ends(*SCHEDULES),
    columns=(
        Line("test accuracy", cell=Cell("test_accuracy", unit="%", scale=0.01, digits=1)),
        Line("outer loss", cell=Cell("outer_loss", unit="nats", digits=3)),
        Line(
            "peak of the last phase",
            cell=Cell("peak_bytes", unit="MB", scale=1e6, digits=2, seeded=False),
        ),
        Line("gradients", cell=Cell("estimates_s", unit="s", digits=0)),
    ),
    title="One image per class, after all outer steps of a schedule",
    notes=(
        f"Outer loss: mean over the last outer steps. (FG)²U has {NUM_DIRECTIONS} directions unless"
        " b says otherwise.",
    ),
)
