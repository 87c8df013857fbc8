"""Table 2: EM and F1 of online adaptation with weights learned by RGU and by (FG)2U."""

from __future__ import annotations

from functools import partial

from harness.declare import Cell, Layout, Line, Task, at_least, claims, ordering
from reproductions.fg2u.adaptation import quantities as q
from reproductions.fg2u.adaptation.claims import (
    HANDED_IN,
    IN_HOUSE,
    MODELS,
    NAMES,
    READERS,
    SCORE,
    WORDS,
    on,
)
from reproductions.fg2u.adaptation.experiment import STREAMS, first, second
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
HANDED = "handed_in_"
PERCENT = {"em": "EM", "f1": "F1"}
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
            paper={"y_name": f"{word}_{column}"},
        )
        for dataset, word in (("streamingqa", "streamingqa"), ("squadseq", "squad_seq"))
        for column, head in PERCENT.items()
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
    cell=Cell("f1"),
    notes=(
        "EM and F1 after one pass over the stream. The paper's (FG)²U is the best F1 of two depths"
        " and two bases; ours, and RGU's for as many steps, that of the least loss on the"
        " validation stream. Loss: of the right answers' tokens; the paper prints none.",
    ),
)


def learned_claims(dataset: str) -> tuple[object, ...]:
    """Return the claim that learned weights teach more than equal ones."""
    return (
        f"learned_beats_equal_{dataset}",
        IN_HOUSE,
        at_least(partial(q.loss_gain, dataset=dataset, entry=RGU), 0, "nats")
        .naming(*READERS.values())
        .measuring("how much lower the loss is than with equal weights")
        .unless(
            partial(q.at_edge, dataset=(dataset,), eval_model=q.EVAL_MODELS, entry=(EQUAL, RGU))
        ),
        f"On {NAMES[dataset]} weights learned by RGU lower the loss of the right answers at least"
        " as much as equal weights do.",
    )


def better_claims(dataset: str, eval_model: str, *, given: bool = False) -> tuple[object, ...]:
    """Return the claim that (FG)2U is above RGU in one cell. given: of the paper's own models."""
    column, unit = ("f1", "F1") if given else SCORE[dataset]
    compared = (RGU, FG2U)
    quantity = partial(
        q.by_entry, column=column, dataset=dataset, eval_model=eval_model, entries=compared
    )
    said = "F1, with the paper's own models" if given else WORDS[dataset]
    return (
        f"{HANDED * given}fg2u_above_rgu_{dataset}_{eval_model}",
        HANDED_IN if given else IN_HOUSE,
        ordering(quantity, unit, strict=True)
        .measuring("how much better (FG)²U is than RGU")
        .unless(partial(q.at_edge, dataset=(dataset,), eval_model=(eval_model,), entry=compared)),
        f"{on(dataset, eval_model)} weights by (FG)²U are better than those by RGU that they start"
        f" from, in {said}.",
    )


def fair_claims(dataset: str, *, given: bool = False) -> tuple[object, ...]:
    """Return our question: against RGU that takes as many steps more, with as many candidates."""
    column, unit = ("f1", "F1") if given else SCORE[dataset]
    compared, readers = (LONGER, FG2U), MODELS if given else READERS
    scope = HANDED_IN if given else IN_HOUSE
    quantity = partial(
        q.gains_over, column=column, dataset=dataset, other=LONGER, eval_models=tuple(readers)
    )
    said = "F1, with the paper's own models" if given else WORDS[dataset]
    return (
        f"{HANDED * given}fg2u_above_equal_steps_{dataset}",
        scope.asked_by_us(),
        at_least(quantity, 0, unit)
        .naming(*readers.values())
        .measuring("how much better (FG)²U is than RGU")
        .unless(partial(q.at_edge, dataset=(dataset,), eval_model=tuple(readers), entry=compared)),
        f"On {NAMES[dataset]} weights by (FG)²U are no worse than those by RGU that goes on for as"
        f" many outer steps, the best of as many candidates, in {said}.",
    )


task = Task(
    "fg2u/tab02",
    reads=(first, second, handed_in),
    table=ADAPTED,
    claims=claims(
        "Table 2",
        *(better_claims(d, m) for d in STREAMS for m in READERS),  # type: ignore[arg-type]
        *(better_claims(d, m, given=True) for d in STREAMS for m in MODELS),  # type: ignore[arg-type]
    )
    + claims("Section 4.2, of CaMeLS itself", *(learned_claims(d) for d in STREAMS))  # type: ignore[arg-type]
    + claims(
        "ours, beside Table 2",
        *(fair_claims(d) for d in STREAMS),  # type: ignore[arg-type]
        *(fair_claims(d, given=True) for d in STREAMS),  # type: ignore[arg-type]
    ),
    layout=LAYOUT,
    figure="figures:entry_panels",
    caption="Answers after one pass over a stream of documents, by how the weights of tokens were"
    " learned: F1, and the loss of the right answers' tokens; means over seeds, each with a corpus,"
    " base models and a stream of its own, bars: standard error. Hollow: the paper's F1. RGU"
    " unrolls six documents; (FG)²U, and RGU for as many steps, are the best of four on the"
    " validation stream.",
    alt="Dots by method, for two models that read and two streams: F1 left, loss right.",
)
