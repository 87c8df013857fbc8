"""Score against unrolled depth, at equal outer steps; bytes of a gradient by depth."""

from functools import partial
from itertools import pairwise

from harness.declare import CHECK, Task, at_least, at_most, claims
from reproductions.fg2u.adaptation import quantities as q
from reproductions.fg2u.adaptation.claims import gain
from reproductions.fg2u.adaptation.experiment import costs, first, second
from reproductions.fg2u.adaptation.table import adapted

UNROLLS = ("rgu 6", "fg2u 24", "fg2u 48")

task = Task(
    "fg2u/abl_depth",
    reads=(first, second, costs),
    table=adapted(meta_base_model="small"),
    claims=claims(
        "Table 2, of the released code's two losses",
        (
            "one_masked_loss",
            CHECK,
            at_most(q.gradient_error, 1e-8, "share of the gradient's norm"),
            "With one masked loss the mean of (FG)²U over all coordinates is the gradient of RGU.",
        ),
    )
    + claims(
        "Figure 1, bottom left",
        (
            "rgu_bytes_grow_with_depth",
            CHECK,
            at_least(partial(q.bytes_ratio, method="rgu", depths=(6, 24)), 3, "ratio").measuring(
                "bytes at 24 documents over those at 6"
            ),
            "The memory of RGU grows with the documents of an unroll.",
        ),
        (
            "fg2u_bytes_free_of_depth",
            CHECK,
            at_most(partial(q.bytes_ratio, method="fg2u", depths=(6, 48)), 1.05, "ratio").measuring(
                "bytes at 48 documents over those at 6"
            ),
            "At equal questions (FG)²U's memory does not grow with the documents of an unroll.",
        ),
    )
    + claims(
        "Table G.1",
        gain(
            "deeper_is_better_streamingqa",
            "The more documents an unroll has, the better its weights adapt models on StreamingQA.",
            *(({"unroll": few}, {"unroll": many}) for few, many in pairwise(UNROLLS)),
            steps=("24 against 6", "48 against 24"),
            measures="gain by the deeper unroll",
        ),
    ),
    figure="figures:unroll_panels",
    caption="F1 and loss of the right answers after one pass over a stream, against documents of an"
    " unroll, after equal outer steps from one RGU result with the smaller base: exact gradients"
    " (RGU), and (FG)²U with 12 directions. Means over seeds, bars: standard error.",
    alt="Panels of F1 and loss against depth for two models that read and two streams, a line for"
    " exact gradients and one for (FG)2U.",
)
