"""Score against unrolled depth, at equal outer steps; bytes of a gradient by depth."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, Task, at_least, at_most, claims, monotone
from reproductions.fg2u.adaptation import quantities as q
from reproductions.fg2u.adaptation.claims import IN_HOUSE, READERS, SCORE, WORDS, on
from reproductions.fg2u.adaptation.experiment import STREAMS, Counting, costs, first, second
from reproductions.fg2u.adaptation.table import of_datasets

PAPERS = ("rgu 6", "fg2u 24", "fg2u 48")
EXACT = ("rgu 6", "rgu 24", "rgu 48")
COUNTED_NET = f"GPT of one block of width {Counting().width}, {Counting().num_questions} questions"


def deeper(dataset: str, eval_model: str, *, exact: bool) -> tuple[object, ...]:
    """Return the claim that more documents per unroll are better; exact: by RGU at all depths."""
    column, unit = SCORE[dataset]
    unrolls = EXACT if exact else PAPERS
    quantity = partial(
        q.by_unroll, column=column, dataset=dataset, eval_model=eval_model, unrolls=unrolls
    )
    scope = IN_HOUSE
    methods = "RGU" if exact else "RGU at 6, (FG)²U at the others"
    return (
        f"deeper_is_better_{'exact_' if exact else ''}{dataset}_{eval_model}",
        scope.asked_by_us() if exact else scope,
        monotone(quantity, unit, strict=True)
        .naming("24 against 6", "48 against 24")
        .unless(partial(q.at_edge, dataset=(dataset,), eval_model=(eval_model,), unroll=unrolls)),
        f"{on(dataset, eval_model)} weights are the better the more documents an unroll has (6, 24,"
        f" 48; {methods}; the smaller base, equal outer steps), in {WORDS[dataset]}.",
    )


task = Task(
    "fg2u/abl_depth",
    reads=(first, second, costs),
    table=of_datasets(*STREAMS, meta_base="small"),
    claims=claims(
        "Table 2, of the released code's two losses",
        (
            "one_masked_loss",
            CHECK,
            at_most(q.gradient_error, 1e-8, "share of the gradient's norm"),
            "With one masked loss (FG)²U along every coordinate gives the gradient of RGU.",
        ),
    )
    + claims(
        "Figure 1, bottom left",
        (
            "rgu_bytes_grow_with_depth",
            CHECK,
            at_least(partial(q.bytes_ratio, method="rgu", depths=(6, 24)), 3, "ratio"),
            "A gradient of RGU over 24 documents holds at least 3 times what one over 6 does (a"
            f" {COUNTED_NET}).",
        ),
        (
            "fg2u_bytes_free_of_depth",
            CHECK,
            at_most(partial(q.bytes_ratio, method="fg2u", depths=(6, 48)), 1.05, "ratio"),
            "A gradient of (FG)²U along one direction over 48 documents holds at most 1.05 times"
            f" what one over 6 does, at equal questions (a {COUNTED_NET}).",
        ),
    )
    + claims("Tables G.1 and G.2", *(deeper(d, m, exact=False) for d in STREAMS for m in READERS))  # type: ignore[arg-type]
    + claims(
        "ours, beside Tables G.1 and G.2",
        *(deeper(d, m, exact=True) for d in STREAMS for m in READERS),  # type: ignore[arg-type]
    ),
    figure="figures:unroll_panels",
    caption="Answers after one pass over a stream, against the documents of an unroll, all after"
    " the same outer steps from the same RGU result, with the smaller base: exact gradients (RGU)"
    " and (FG)²U with 12 directions; means over seeds, bars: standard error. The paper has no such"
    " figure; its Tables G.1 and G.2 compare RGU at six with (FG)²U at 24 and 48.",
    alt="Panels of F1 and loss against depth for two models that read and two streams, a line for"
    " exact gradients and one for (FG)2U.",
)
