"""Table 4: continual pre-training by full training and by LISA, accuracy and memory."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Cell,
    Layout,
    Line,
    Task,
    at_least,
    at_most,
    claims,
)
from reproductions.lisa.continual import quantities as q
from reproductions.lisa.continual import table
from reproductions.lisa.continual.experiment import FULL_SIZE, half_of, memory, memory_grid, runs
from reproductions.lisa.models import layouts
from reproductions.lisa.models.names import NAMES, QUALITY
from reproductions.lisa.models.scored import VANILLA
from reproductions.lisa.models.steps.held import as_computed

WHERE = "Table 4, on continual pre-training"
COUNTED = CHECK.at(*SMOKE_AND_CPU)
BY_ARITHMETIC = CHECK.at(*CPU, elsewhere="this profile has no step of these models")


def rows_of(model: str) -> tuple[Line, ...]:
    """Return a model's rows, LISA's with half of the blocks."""
    half = half_of(model)
    return tuple(
        Line(
            layouts.HEADS[method],
            group=NAMES[model],
            where={"model": model, "method": method, "gamma": half if method == "lisa" else 0},
        )
        for method in (VANILLA, "lisa", "full")
    )


LAYOUT = Layout(
    rows=(
        *(row for model in (*FULL_SIZE, QUALITY) for row in rows_of(model)),
        *(
            Line(
                f"LISA, gamma = {step.gamma}",
                group=NAMES[step.shape],
                where={"model": step.shape, "method": "lisa", "gamma": step.gamma},
            )
            for step in memory_grid("cpu")
            if step.method == "lisa" and step.gamma != half_of(step.shape)
        ),
    ),
    columns=(
        Line(layouts.PROBLEMS, where={"part": "run"}),
        Line(
            "memory",
            where={"part": "step"},
            cell=Cell("total_bytes", unit="GB", scale=1e9, seeded=False),
        ),
    ),
    cell=Cell("accuracy", unit="%", scale=0.01, digits=1),
    notes=(
        "LISA trains half of the blocks at once; the rows with fewer are not Table 4's.",
        "Memory is that of one step, by arithmetic for the paper's models and counted for ours.",
        layouts.VANILLA_IS_UNTUNED,
    ),
    ours=True,
)
task = Task(
    "lisa/tab04",
    reads=(runs, memory),
    table=table.RUNS_AND_MEMORY,
    layout=LAYOUT,
    claims=claims(
        WHERE,
        as_computed(COUNTED)[0],
        (
            "memory_at_half",
            BY_ARITHMETIC,
            at_most(
                partial(q.memory_ratios, gammas={model: half_of(model) for model in FULL_SIZE}),
                0.75,
                "ratio",
            )
            .naming(*(NAMES[model] for model in FULL_SIZE))
            .measuring("LISA's memory over full training's"),
            "With half of the blocks at once a step takes at most 0.75 of full training's memory.",
        ),
        (
            "half_as_accurate_as_full",
            q.SOLVING,
            at_least(partial(q.lead, gamma=half_of(QUALITY)), -q.MARGIN, "accuracy").measuring(
                "share of problems that LISA solves less that of full training"
            ),
            "With half of the blocks at once LISA solves as much of GSM8K as full training.",
        ),
    ),
    figure="figures:memory_and_accuracy",
    caption="Left: memory of one step of LISA as a share of full training's, counted (in-house"
    " model) or by arithmetic (the paper's models, 512 tokens), against the share of blocks that"
    " train at once; no seed changes it. Right: test problems that the in-house model solves, each"
    " method at the rate that its pilots chose, against that memory; small dots: seeds, large ones:"
    " their mean.",
    alt="Left panel: lines of memory share that rise with the share of trained blocks and stay"
    " below one. Right panel: one cloud of dots per method, accuracy against memory share, full"
    " training at a share of one.",
)
