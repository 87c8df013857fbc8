"""Table G.1: StreamingQA by model that reads, unrolled depth and base of the meta model."""

from __future__ import annotations

from harness.declare import Task, bind, claims
from reproductions.fg2u.adaptation.depths import depth_layout, no_gain_claim
from reproductions.fg2u.adaptation.experiment import first, second
from reproductions.fg2u.adaptation.given_experiment import handed_in
from reproductions.fg2u.adaptation.table import of_datasets

task = Task(
    "fg2u/tabg1",
    reads=(first, second, handed_in),
    table=of_datasets("streamingqa"),
    claims=claims("Table G.1", no_gain_claim("streamingqa")),
    layout=depth_layout("streamingqa"),
    figure=bind("figures:depth_panels", dataset="streamingqa"),
    caption="Answers after one pass over a stream, against the documents of an unroll, by the base"
    " whose adaptation was unrolled: RGU at six documents, (FG)²U from there; means over seeds,"
    " bars: standard error. Hollow: the paper's F1.",
    alt="Two rows of panels, F1 and loss, against depth, a line per base, for two models.",
)
