"""The substitute for Table 2 at a scale whose nets guess at its tasks.

Which of four passages goes on a text stands for multiple choice, the last word of a sentence
for LAMBADA. Numbers do not compare with Table 2's: only who is ahead does.
"""

from __future__ import annotations

from harness.declare import CPU, Task, bind, claims, ours
from reproductions.supar.downstream import table
from reproductions.supar.downstream.claims import (
    DENSE_IS_EQUAL,
    SUBSTITUTE,
    WHERE_DENSE,
    sp_is_nearer_to_random,
    supar_beats_mup,
)
from reproductions.supar.downstream.experiment import continuation
from reproductions.supar.transfer.experiment import DENSITIES

RANKED = ours(
    "DEV-17",
    profiles=CPU,
    elsewhere="smoke's 20 steps rank nothing; at larger scales Table 2's own tasks take its place",
)
TITLES = {"choice": "continuation of four", "last_word": "last word"}

task = Task(
    "supar/tab02_proxy",
    reads=(continuation,),
    table=table.SUBSTITUTE,
    layout=table.accuracy_layout(
        TITLES,
        densities=DENSITIES["cpu"],
        digits=3,
        notes=("A substitute of ours: the paper has no such tasks.",),
    ),
    claims=claims(WHERE_DENSE, DENSE_IS_EQUAL)
    + claims(
        "ours: substitute for Table 2, Avg",
        supar_beats_mup(RANKED.asked_by_us(), SUBSTITUTE),
        sp_is_nearer_to_random(RANKED.asked_by_us(), SUBSTITUTE),
    ),
    figure=bind(
        "figures:accuracy_panels",
        tasks=TITLES,
    ),
    caption="A substitute of our own for Table 2, on held-out text: which of four passages goes"
    " on (guessing: 1/4), and the last word of a sentence, each of its bytes the greedy choice"
    " (guessing: 0). Mean over seeds, bars show its standard error. Dotted: guessing.",
    alt="Two panels of accuracy against density for SP, μP and SμPar: choosing the true"
    " continuation of four, and the last word of a sentence; with the level of guessing.",
)
