"""Table G.2: SQuAD-Seq by model that reads, unrolled depth and base of the meta model."""

from __future__ import annotations

from harness.declare import Task, bind, claims
from reproductions.fg2u.adaptation.depths import depth_layout, no_gain_claim
from reproductions.fg2u.adaptation.experiment import first, second
from reproductions.fg2u.adaptation.given_experiment import handed_in
from reproductions.fg2u.adaptation.table import of_datasets

task = Task(
    "fg2u/tabg2",
    reads=(first, second, handed_in),
    table=of_datasets("squadseq"),
    claims=claims("Table G.2", no_gain_claim("squadseq")),
    layout=depth_layout("squadseq"),
    figure=bind("figures:depth_panels", dataset="squadseq"),
    caption="F1 and loss of the right answers after one pass over a stream, against documents of an"
    " unroll, by base model: RGU at six documents, (FG)²U from there. Means over seeds, bars:"
    " standard error; hollow: the paper's F1.",
    alt="Two rows of panels, F1 and loss, against depth, a line per base, for two models.",
)
