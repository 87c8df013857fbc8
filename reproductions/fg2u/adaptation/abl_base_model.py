"""Score against the base of the meta model, at equal depth and outer steps."""

from harness.declare import Task, claims
from reproductions.fg2u.adaptation import quantities as q
from reproductions.fg2u.adaptation.claims import gain
from reproductions.fg2u.adaptation.experiment import DEPTHS, first, second
from reproductions.fg2u.adaptation.table import ADAPTED

task = Task(
    "fg2u/abl_base_model",
    reads=(first, second),
    table=ADAPTED,
    claims=claims(
        "Table G.1",
        gain(
            "larger_base_better_streamingqa",
            "At equal depth a larger base of the meta model gives better weights on StreamingQA.",
            *((q.of_base("small", depth), q.of_base("large", depth)) for depth in DEPTHS),
            steps=[f"{depth} documents" for depth in DEPTHS],
            measures="how much better the larger base is",
        ),
    ),
    figure="figures:base_panels",
    caption="F1 and loss of the right answers after one pass over a stream, against documents of an"
    " unroll, by the base whose adaptation (FG)²U unrolled, from the RGU result of the smaller"
    " one. Means over seeds, bars: standard error.",
    alt="Panels of F1 and loss against depth for two models that read and two streams, a line per"
    " base.",
)
