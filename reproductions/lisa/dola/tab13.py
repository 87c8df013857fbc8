"""Table 13: GSM8K with DoLa's early exits, and word problems of our own in its place."""

from __future__ import annotations

from functools import partial

from harness.declare import PAPER, Cell, Criterion, Layout, Line, Task, at_least, claims, ours
from reproductions.lisa.dola.experiment import PAPER_MODEL, decoded, given
from reproductions.lisa.dola.quantities import lead_under_dola
from reproductions.lisa.dola.table import ANSWERS
from reproductions.lisa.models.claims import IN_HOUSE, stand_in
from reproductions.lisa.models.layouts import HEADS, MODELS, OWN, PROBLEMS
from reproductions.lisa.models.names import QUALITY
from reproductions.lisa.models.scored import VANILLA

ON_GSM8K = ours(
    "DEV-04",
    profiles=PAPER,
    elsewhere="GSM8K is asked of the paper's model, whose weights are not at hand; the in-house"
    " model answers word problems of its own size",
).comparing("weights")


def no_lead_of_vanilla(questions: str) -> Criterion:
    """Ask that LISA's model solves at least as many as the untuned one."""
    quantity = partial(lead_under_dola, questions=questions, value="flexible_accuracy")
    return at_least(quantity, 0, "share")


LAYOUT = Layout(
    rows=tuple(
        Line(
            HEADS[weights],
            group=head,
            where={"model": model, "questions": questions, "weights": weights},
        )
        for model, questions, head in (
            (PAPER_MODEL, "gsm8k", f"{MODELS[PAPER_MODEL]}, GSM8K"),
            (QUALITY, "word_problems", f"{OWN}; {PROBLEMS}"),
        )
        for weights in (VANILLA, "lisa")
    ),
    columns=(
        Line("DoLa", where={"decoding": "dola"}),
        Line("greedy", where={"decoding": "greedy"}),
        *(
            Line(
                head,
                group="marked results alone",
                where={"decoding": decoding},
                cell=Cell("accuracy", unit="%", scale=0.01, digits=1),
            )
            for decoding, head in (("dola", "DoLa"), ("greedy", "greedy"))
        ),
    ),
    cell=Cell("flexible_accuracy", unit="%", scale=0.01, digits=1),
    notes=(
        "The last number of an answer is its result; the columns of marked results, and those of"
        " greedy decoding, are not the paper's.",
    ),
)
task = Task(
    "lisa/tab13",
    reads=(decoded, given),
    table=ANSWERS,
    layout=LAYOUT,
    claims=claims(
        stand_in("Table 13"),
        (
            "lisa_at_least_vanilla",
            IN_HOUSE.comparing("weights"),
            no_lead_of_vanilla("word_problems"),
            "Under DoLa LISA's model solves at least as many questions of GSM8K as the untuned one,"
            " which solves some; the last number of an answer is its result.",
        ),
    )
    + claims(
        "Table 13",
        (
            "lisa_at_least_vanilla_gsm8k",
            ON_GSM8K,
            no_lead_of_vanilla("gsm8k"),
            "Under DoLa LISA's model solves at least as many of 100 questions of GSM8K as the"
            " untuned one.",
        ),
    ),
    figure="figures:answer_points",
    caption="Answers whose last number is right, decoded greedily and by DoLa, before and after"
    " tuning. Word problems of our own unless the profile is the paper's, which has GSM8K. Dots:"
    " runs, over seeds; lines: their mean.",
    alt="Share of right answers of the untuned model and of LISA's, greedy and by DoLa.",
)
