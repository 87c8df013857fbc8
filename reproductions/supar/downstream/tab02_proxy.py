"""The substitute for Table 2 at a scale whose nets guess at its tasks.

Which of four passages goes on a text stands for multiple choice, the last word of a sentence
for LAMBADA. Numbers do not compare with Table 2's: only who is ahead does.
"""

from dataclasses import replace

from harness.declare import CPU, Task, at_least, bind, claims, more_than, ours
from reproductions.supar.downstream import quantities as q
from reproductions.supar.downstream import table
from reproductions.supar.downstream.experiment import continuation
from reproductions.supar.models.claims import SPREAD
from reproductions.supar.transfer.experiment import DENSITIES

RANKED = (
    ours(
        "DEV-17",
        profiles=CPU,
        elsewhere="smoke's 20 steps rank nothing, and larger nets are asked Table 2's own tasks",
    )
    .controlled(
        "dense nets of every scheme pick the true continuation at least 27 % of the time (chance:"
        " 25 %)",
        at_least(q.dense_choices, 0.27, "accuracy"),
    )
    .asked_by_us()
)
TITLES = {"choice": "continuation of four", "last_word": "last word"}

task = Task(
    "supar/tab02_proxy",
    reads=(continuation,),
    table=table.SUBSTITUTE,
    layout=replace(
        table.accuracy_layout(TITLES, densities=DENSITIES["cpu"], digits=3),
        notes=("The paper has no such tasks.",),
    ),
    claims=claims(
        "ours: substitute for Table 2, Avg",
        (
            "supar_ahead",
            RANKED,
            more_than(q.leads_at_lowest, 0, "accuracy")
            .naming("SP", "μP")
            .measuring("SμPar's average less the other's"),
            "At the lowest density SμPar's nets continue a text better than SP's and μP's.",
        ),
    ),
    figure=bind("figures:accuracy_panels", tasks=TITLES),
    caption="On held-out text: which of four passages goes on (guessing: 1/4), and the last word of"
    f" a sentence, each of its bytes the greedy choice (guessing: 0). {SPREAD} Dotted: guessing.",
    alt="Two panels of accuracy against density for SP, μP and SμPar: choosing the true"
    " continuation of four, and the last word of a sentence; with the level of guessing.",
)
