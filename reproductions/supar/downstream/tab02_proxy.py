"""The substitute for Table 2 at a scale whose nets guess at its tasks.

Which of four passages goes on a text stands for multiple choice, the last word of a sentence
for LAMBADA. Numbers do not compare with Table 2's: only who is ahead does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Column, Table
from reproductions.supar.downstream.continuation import experiment
from reproductions.supar.downstream.quantities import (
    ACCURACY,
    KEYS,
    dense_is_equal,
    sp_is_nearer_to_random,
    supar_is_best,
    with_random,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.declare.table import Tables
    from harness.publish.figures import FigureContext

SUBSTITUTE = "substitute for Table 2, Avg; threshold: ours, see DEV-17"
UNRANKED = "smoke's 20 steps rank nothing; at larger scales Table 2's own tasks take its place"


def view(frames: Tables) -> pd.DataFrame:
    """Return a row a net and task, then guessing."""
    return with_random(frames[experiment.id])


def draw(context: FigureContext) -> Figure:
    """Draw one panel a task."""
    from reproductions.supar.downstream.figures import accuracy_panels

    return accuracy_panels(
        context, tasks={"choice": "continuation of four", "last_word": "last word"}
    )


task = old_task(
    id="supar/tab02_proxy",
    title="Substitute for Table 2: continuations and last words of held-out text",
    reads=(experiment,),
    columns=Table(
        (
            *KEYS,
            ACCURACY,
            Column(
                name="num_items",
                type="int",
                role="value",
                doc="How many questions were asked, the same ones of every net.",
            ),
            Column(
                name="items_sha256",
                type="str",
                role="value",
                doc="Hash of the questions; empty for a diverged net.",
                nullable=True,
            ),
        )
    ),
    claims=(
        dense_is_equal(where="Table 2, sparsity 0, and Table 1 with m_rho = 1"),
        supar_is_best(where=SUBSTITUTE, profiles=("cpu",), out_of_profile=UNRANKED),
        sp_is_nearer_to_random(where=SUBSTITUTE, profiles=("cpu",), out_of_profile=UNRANKED),
    ),
    view=view,
    figure=draw,
    kind="table",
    caption="A substitute of our own for Table 2, on held-out text: which of four passages goes"
    " on (guessing: 1/4), and the last word of a sentence, each of its bytes the greedy choice"
    " (guessing: 0). Mean over seeds, bars show its standard error. Dotted: guessing.",
    alt="Two panels of accuracy against density for SP, μP and SμPar: choosing the true"
    " continuation of four, and the last word of a sentence; with the level of guessing.",
)
