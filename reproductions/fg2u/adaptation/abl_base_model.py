"""Score against the base of the meta model, at equal depth and outer steps."""

from __future__ import annotations

from harness.declare import Task, claims
from reproductions.fg2u.adaptation import quantities as q
from reproductions.fg2u.adaptation.claims import NAMES, Declared, gain
from reproductions.fg2u.adaptation.experiment import DEPTHS, STREAMS, first, second
from reproductions.fg2u.adaptation.table import of_datasets


def larger(dataset: str) -> Declared:
    """Return the claim that the larger base is better at each depth."""
    return gain(
        f"larger_base_better_{dataset}",
        f"At equal depth a larger base of the meta model gives better weights on {NAMES[dataset]}.",
        *((q.of_base("small", depth), q.of_base("large", depth)) for depth in DEPTHS),
        datasets=(dataset,),
        steps=[f"{depth} documents" for depth in DEPTHS],
        measures="how much better the larger base is",
        read={"method": ("fg2u",), "depth": DEPTHS},
    )


task = Task(
    "fg2u/abl_base_model",
    reads=(first, second),
    table=of_datasets(*STREAMS),
    claims=claims("Tables G.1 and G.2", *map(larger, STREAMS)),
    figure="figures:base_panels",
    caption="F1 and loss of the right answers after one pass over a stream, against documents of an"
    " unroll, by the base whose adaptation (FG)²U unrolled, from the RGU result of the smaller"
    " one. Means over seeds, bars: standard error.",
    alt="Panels of F1 and loss against depth for two models that read and two streams, a line per"
    " base.",
)
