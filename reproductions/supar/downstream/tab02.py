"""Table 2: accuracy of Figure 3's nets on ARC-easy, LAMBADA, RACE, PIQA and BoolQ."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from harness.declare.claims import Claim
from harness.declare.old import flat_claim, old_task
from harness.declare.statistics import MissingRows
from harness.declare.table import Column, Table
from reproductions.supar.downstream.experiment import UNTRAINED, experiment, given, not_scored
from reproductions.supar.downstream.quantities import (
    ACCURACY,
    KEYS,
    average_claim,
    dense_is_equal,
    largest_gap_to,
    lead_on_task,
    sp_is_nearer_to_random,
    supar_is_best,
    with_random,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

GUESSES = "a net of under two million weights guesses at these tasks; see supar/tab02_proxy"
PAPER_ONLY = "the number belongs to the paper's own model and data"
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


def race_lead(table: pd.DataFrame) -> float:
    """Return SmuPar's lead on RACE at the lowest density.

    Raises MissingRows where RACE was not run.
    """
    if table.loc[table["task"] == "race", "accuracy"].dropna().empty:
        raise MissingRows("RACE was not run: the data catalogue has no copy of it")
    return lead_on_task(table, task="race")


def printed_at(reference: pd.DataFrame, *, series: str, density: float) -> float | None:
    """Return what Table 2 prints for a series at a density; None where it prints nothing."""
    rows = reference[(reference["series"] == series) & (reference["y_name"] == "accuracy")]
    near = rows[(rows["x"] - density).abs() <= 1e-3 * density]
    return float(near["value"].iloc[0]) if len(near) == 1 else None


RANDOM = flat_claim(
    id="random_row",
    statement="Guessing scores what Table 2 prints for it, to the last digit, on each task.",
    where="Table 2, random",
    form="equal",
    grade="exact",
    quantity=partial(largest_gap_to, printed=RANDOM_ROW),
    threshold=0.0,
    tolerance=0.005,
    threshold_from="paper",
    profiles=("smoke", "cpu", "paper"),
    deterministic=True,
    unit="accuracy",
)
RACE = flat_claim(
    id="supar_best_race",
    statement="On RACE at the lowest density, SμPar is no more than 0.01 below the better of SP"
    " and μP.",
    where="Table 2, RACE; threshold: that of its caption",
    form="at_least",
    grade="empirical",
    quantity=race_lead,
    threshold=-0.01,
    threshold_from="theory",
    profiles=("cpu", "paper"),
    out_of_profile="made-up documents are not RACE",
    unit="accuracy",
)


def _average(scheme: str, name: str, value: float) -> Claim:
    return average_claim(
        scheme,
        id=f"{scheme}_average",
        statement=f"At density 2^-7 {name} averages {value:.2f}, to 0.01.",
        where="Table 2, Avg at 99.2 %",
        band=(value - 0.01, value + 0.01),
        out_of_profile=PAPER_ONLY,
        paper_value=partial(printed_at, series=f"{scheme} Avg", density=LOWEST),
    )


PAPER: dict[str, Any] = {"profiles": ("paper",), "out_of_profile": GUESSES}
CLAIMS = (
    RANDOM,
    dense_is_equal(where="Table 2, sparsity 0, and Table 1 with m_rho = 1"),
    supar_is_best(where="Table 2, Avg; threshold: that of its caption", **PAPER),
    sp_is_nearer_to_random(where="Table 2, Avg at 99.2 %", **PAPER),
    RACE,
    _average("supar", "SμPar", 0.40),
    _average("sp", "SP", 0.34),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return a row a net and task, RACE without accuracy where it was not run, then guessing."""
    import pandas as pd

    parts = [frames[experiment.id], _named(frames[given.id])]
    nets = pd.concat([part for part in parts if not part.empty], ignore_index=True)
    if "race" not in set(nets["task"]):
        missing = nets.drop_duplicates(subset=["scheme", "density", "seed"])
        nets = pd.concat([nets, missing.assign(**not_scored("race"))], ignore_index=True)
    table = with_random(nets)
    return table.assign(stderr=table["stderr"].mask(table["scheme"] == "random"))


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """Call the scheme of an untrained net so: it was drawn, and no rule of a scheme applied."""
    if frame.empty:
        return frame
    return frame.assign(scheme=frame["scheme"].mask(frame["checkpoint"] == UNTRAINED, UNTRAINED))


COLUMNS = Table(
    (
        *KEYS,
        ACCURACY,
        Column(
            name="stderr",
            type="float",
            role="value",
            doc="Its standard error over documents, by lm-eval; empty for guessing.",
            nullable=True,
        ),
        Column(
            name="num_documents",
            type="int",
            role="value",
            doc="How many of the task's documents were asked, the first ones.",
        ),
        Column(
            name="lm_eval_version",
            type="str",
            role="measurement",
            doc="Version of lm-eval.",
            nullable=True,
        ),
        Column(
            name="task_sha256",
            type="str",
            role="value",
            doc="Hash of the task's file and of every prompt and answer that was scored.",
            nullable=True,
        ),
    )
)


def draw(context: FigureContext) -> Figure:
    """Draw one panel a task, ours filled and the paper's hollow."""
    from reproductions.supar.downstream.figures import accuracy_panels

    names = {"arc_easy": "ARC-easy", "lambada": "LAMBADA", "race": "RACE"}
    return accuracy_panels(context, tasks=names | {"piqa": "PIQA", "boolq": "BoolQ"})


task = old_task(
    id="supar/tab02",
    title="Downstream accuracy of Figure 3's nets",
    reads=(experiment, given),
    columns=COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Accuracy against density: mean over seeds, bars show its standard error. Dotted:"
    " guessing. Hollow and dashed: Table 2, whose nets have 610M weights. BoolQ is asked without"
    " its passages, RACE not at all where there is no copy of it.",
    alt="Five panels, one a task, of accuracy against density for SP, μP and SμPar, with the"
    " level of guessing and the values of the paper's Table 2.",
)
