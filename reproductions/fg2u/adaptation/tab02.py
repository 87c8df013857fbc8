"""Table 2: EM and F1 of online adaptation with weights learned by RGU and by (FG)2U."""

from functools import partial

from harness.declare import Cell, Layout, Line, Task, at_least, claims
from reproductions.fg2u.adaptation import quantities as q
from reproductions.fg2u.adaptation.claims import (
    ANSWERED,
    IN_HOUSE,
    LEARNED,
    MODELS,
    PAPERS_MODELS,
    READERS,
    SCORES,
    WORDS,
    gain,
)
from reproductions.fg2u.adaptation.experiment import NAMES, STREAMS, first, second
from reproductions.fg2u.adaptation.given_experiment import handed_in
from reproductions.fg2u.adaptation.table import (
    ADAPTED,
    EQUAL,
    FG2U,
    LONGER,
    OTHER_KL,
    RGU,
)

METHODS = (
    ("CaMeLS + RGU, published", "published", "rgu_published"),
    ("CaMeLS + RGU", RGU, "rgu"),
    ("CaMeLS + (FG)²U", FG2U, "fg2u"),
    ("RGU, as many steps and candidates", LONGER, ""),
    ("RGU, the code's divergence", OTHER_KL, ""),
    ("equal weights", EQUAL, ""),
)
"""Head, entry, and the paper's series."""
LAYOUT = Layout(
    rows=tuple(
        Line(
            head,
            group=name,
            where={"eval_model": model, "entry": entry},
            paper={"series": f"{name.lower()} {series}"} if series else {},
        )
        for model, name in MODELS.items()
        for head, entry, series in METHODS
        if entry != OTHER_KL or model != "largest"
    ),
    columns=tuple(
        Line(
            head,
            group=NAMES[dataset],
            where={"dataset": dataset},
            cell=Cell(column, unit="%", scale=0.01, digits=2),
            paper={"y_name": f"{WORDS[dataset]}_{column}"},
        )
        for dataset in STREAMS
        for column, head in SCORES.items()
    )
    + tuple(
        Line(
            "loss",
            group=NAMES[dataset],
            where={"dataset": dataset},
            cell=Cell("qa_loss_after", unit="nats", digits=3),
        )
        for dataset in STREAMS
    ),
    notes=(
        "After one pass over the stream. The paper's (FG)²U is the best F1 of two depths and two"
        " bases; ours, and RGU with as many steps, is the best of four by validation loss. Loss: of"
        " the right answers' tokens.",
    ),
)
READ = partial(q.learned_by_reading, datasets=(ANSWERED,), eval_models=tuple(READERS))
"""By how much models learn by reading at all."""
task = Task(
    "fg2u/tab02",
    reads=(first, second, handed_in),
    table=ADAPTED,
    claims=claims(
        "Table 2",
        gain(
            "fg2u_above_rgu_streamingqa",
            "On StreamingQA weights learned by (FG)²U adapt models better than RGU's, which they"
            " start from.",
            ({"entry": RGU}, {"entry": FG2U}),
            measures="how much better (FG)²U is than RGU",
        ),
        gain(
            "fg2u_above_rgu_papers_models",
            "With the paper's own models weights learned by (FG)²U give a higher F1 than RGU's.",
            ({"entry": RGU}, {"entry": FG2U}),
            datasets=STREAMS,
            scope=PAPERS_MODELS,
            measures="F1 by (FG)²U less F1 by RGU",
        ),
    )
    + claims(
        "Section 4.2, of CaMeLS itself",
        gain(
            "learned_beats_equal_streamingqa",
            "Learned weights of tokens lower the loss of right answers more than equal weights on"
            " StreamingQA.",
            LEARNED,
            column="qa_loss_after",
            scope=IN_HOUSE.controlled(
                "models answer 0.1 nats better after they read StreamingQA with equal weights",
                at_least(READ, 0.1, "nats"),
            ),
            measures="loss with equal weights less loss with learned ones",
        ),
    )
    + claims(
        "ours, beside Table 2",
        gain(
            "fg2u_matches_longer_rgu_streamingqa",
            "On StreamingQA weights by (FG)²U adapt models as well as RGU's after as many further"
            " outer steps.",
            ({"entry": LONGER}, {"entry": FG2U}),
            scope=IN_HOUSE.asked_by_us(),
            ask=at_least,
            measures="how much better (FG)²U is than RGU",
        ),
    ),
    layout=LAYOUT,
    figure="figures:entry_panels",
    caption="F1 and loss of the right answers after one pass over a stream of documents, by how the"
    " weights of tokens were learned. RGU unrolls six documents; (FG)²U, and RGU with as many"
    " steps, are the best of four on a validation stream. Means over seeds, bars: standard"
    " error; hollow: the paper's F1.",
    alt="Dots by method, for two models that read and two streams: F1 left, loss right.",
)
