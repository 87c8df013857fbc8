"""Table 2: accuracy of Figure 3's nets on ARC-easy, LAMBADA, RACE, PIQA and BoolQ."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import (
    CHECK,
    PAPER,
    Cell,
    Line,
    Task,
    at_least,
    bind,
    claims,
    equal,
    ours,
    within,
)
from reproductions.supar.downstream import quantities as q
from reproductions.supar.downstream import table
from reproductions.supar.downstream.experiment import UNTRAINED, downstream, given
from reproductions.supar.models.claims import SPREAD, STATED, Row, stated
from reproductions.supar.transfer.experiment import DENSITIES

TITLES = {
    "arc_easy": "ARC-easy",
    "lambada": "LAMBADA",
    "race": "RACE",
    "piqa": "PIQA",
    "boolq": "BoolQ",
}
RANDOM_ROW = (
    ("arc_easy", 0.25),
    ("lambada", 0.0),
    ("race", 0.25),
    ("piqa", 0.5),
    ("boolq", 0.5),
)
"""Table 2's row of guessing; held equal to the reference rows by a test."""
LOWEST = 2.0**-7
"""The paper's lowest density, which it calls 99.2 % sparsity."""
TRAINED_LONG = ours(
    "DEV-17",
    profiles=PAPER,
    elsewhere="nets of under two million weights guess at these tasks",
)
MODEL_OF_THE_PAPER = replace(
    STATED, elsewhere="the number belongs to the paper's own model and data"
)

AVERAGE = Line(
    "Avg",
    where={"task": "average"},
    # A claim has the average; the table has none.
    cell=Cell("accuracy", absent="-"),
    paper={"series": "Avg"},
)
TASKS = table.accuracy_layout(TITLES, densities=DENSITIES["paper"], digits=2)
LAYOUT = replace(
    TASKS,
    rows=(*TASKS.rows, AVERAGE),
    columns=(*TASKS.columns, Line("untrained net", where={"scheme": UNTRAINED}, shows="ours")),
    notes=(
        "Nets below profile `paper` guess: they answer every question of BoolQ alike, miss every"
        " last word of LAMBADA, and are no better than the untrained net on ARC-easy and PIQA.",
        "Averages are among the claims; the table has none.",
        "The last column is ours.",
    ),
)


def average(scheme: str, name: str, printed: float) -> Row:
    """Return the claim that an average at the lowest density is the one that is printed."""
    criterion = within(
        partial(q.average_at_lowest, scheme=scheme),
        printed - 0.01,
        printed + 0.01,
        "accuracy",
        paper_value=partial(stated, y_name="accuracy", series=f"{scheme} Avg", x=LOWEST),
    )
    statement = f"At 99.2 % sparsity {name} averages {printed:.2f} over the five tasks."
    return f"{scheme}_average", MODEL_OF_THE_PAPER, criterion, statement


task = Task(
    "supar/tab02",
    reads=(downstream, given),
    table=table.TASKS,
    layout=LAYOUT,
    claims=claims(
        "Table 2, random",
        (
            "random_row",
            replace(CHECK.at("smoke", "cpu", "paper"), threshold_from="paper"),
            equal(partial(q.largest_gap_to, printed=RANDOM_ROW), 0, "accuracy", tolerance=0.005),
            "Guessing scores what Table 2 prints for it on each task.",
        ),
    )
    + claims(
        "Table 2, Avg; threshold: that of its caption",
        (
            "supar_best",
            TRAINED_LONG,
            at_least(q.leads, -0.01, "accuracy").measuring("SμPar's average less another's"),
            "At density 1/16 and below SμPar's average accuracy is the best, to 0.01.",
        ),
    )
    + claims("Table 2, Avg at 99.2 %", average("supar", "SμPar", 0.40), average("sp", "SP", 0.34)),
    figure=bind("figures:accuracy_panels", tasks=TITLES),
    caption=f"Accuracy against density. {SPREAD} Dotted: guessing, which is what nets below profile"
    " `paper` do. Hollow and dashed: Table 2, whose nets have 610M weights. BoolQ is asked without"
    " its passages; RACE needs a copy of its questions.",
    alt="Five panels, one per task, of accuracy against density for SP, μP and SμPar, with the"
    " level of guessing and the values of the paper's Table 2.",
)
