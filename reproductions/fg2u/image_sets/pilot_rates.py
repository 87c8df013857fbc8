"""Each method's first step size of outer Adam, in the setting that the run is given."""

from __future__ import annotations

from harness.declare import Cell, Frame, Layout, Line, Table, Tables, Task, columns_of, param
from reproductions.fg2u.image_sets.cells import CHOSEN, CPU, TRIED
from reproductions.fg2u.image_sets.experiment import BIASED, METHODS
from reproductions.fg2u.image_sets.layouts import METHOD_NAMES
from reproductions.fg2u.image_sets.params import Condensation, Method
from reproductions.fg2u.image_sets.pilot_experiment import (
    COMPARED,
    LATER_RATES,
    LONGER_RATES,
    RATE_STEPS,
    RATES,
    TINY,
    second_phases,
    sets,
)
from reproductions.fg2u.image_sets.pilot_nets import SCORES, is_of

FIRST_PHASE, LONGER, SECOND_PHASE = "first", "longer", "second"
"""Phases whose outer step sizes are chosen."""
LONGER_STEPS = CPU[0].longer * TRIED[CHOSEN].steps


def rate_rows(tables: Tables) -> Frame:
    """Return every phase, method and outer step size in the chosen settings, at one seed."""
    import pandas as pd

    rows = tables[sets.id]
    chosen = is_of(rows, TRIED[CHOSEN])
    short = chosen & (rows["steps"] == RATE_STEPS)
    tiny = is_of(rows, TINY) & (rows["steps"] == TINY.steps)
    parts = [
        rows[short | tiny].assign(phase=FIRST_PHASE),
        rows[chosen & (rows["steps"] == LONGER_STEPS)].assign(phase=LONGER),
        tables[second_phases.id].assign(phase=SECOND_PHASE),
    ]
    return pd.concat(parts, ignore_index=True).reindex(columns=BY_RATE.names)


BY_RATE = Table.of(
    param("phase", str, "Which outer steps: from noise, ten times as many, or a second phase's."),
    columns_of(Condensation, "method", "num_directions", "depth", "inner_lr", "steps"),
    columns_of(Condensation, "lr", "seed"),
    SCORES,
    make=rate_rows,
)


def losses(
    phase: str,
    rates: tuple[float, ...],
    *,
    timed_at: float,
    methods: tuple[Method, ...],
    title: str,
) -> Layout:
    """Return a phase's outer loss by method and step size, and the time of all its gradients."""
    return Layout(
        rows=tuple(Line(METHOD_NAMES[name], where={"method": name}) for name in methods),
        columns=(
            *(Line(f"{lr:g}", where={"lr": lr}) for lr in rates),
            Line(
                "all gradients",
                where={"lr": timed_at},
                cell=Cell("estimates_s", unit="s", digits=0),
            ),
        ),
        cell=Cell("outer_loss", unit="nats", digits=3),
        where={"phase": phase},
        title=f"Outer loss by first step size of outer Adam, and time: {title}",
        notes=("Every method is given the step size of its least outer loss.",),
    )


LOSSES = (
    losses(
        FIRST_PHASE,
        RATES,
        timed_at=TRIED[CHOSEN].lr,
        methods=(*COMPARED, "fg2u"),
        title=f"{RATE_STEPS} outer steps from noise, one image per class",
    ),
    losses(
        LONGER,
        LONGER_RATES,
        timed_at=LONGER_RATES[-1],
        methods=BIASED,
        title=f"{LONGER_STEPS:,} outer steps from noise, which fill (FG)²U's time",
    ),
    losses(
        SECOND_PHASE,
        LATER_RATES,
        timed_at=LATER_RATES[0],
        methods=METHODS,
        title="a second phase, ten images per class",
    ),
)
task = Task(
    "fg2u/pilot_rates",
    reads=(sets, second_phases),
    table=BY_RATE,
    layout=LOSSES,
    own_kind="ablation",
)
