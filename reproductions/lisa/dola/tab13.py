"""Table 13: GSM8K with DoLa's early exits, and word problems of our own in its place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import flat_claim, old_task
from harness.declare.table import Column, Table, Tables
from reproductions.lisa.continual.claims import PAPER, on_word_problems
from reproductions.lisa.dola.experiment import experiment, given
from reproductions.lisa.dola.quantities import lead_under_dola

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

NO_WEIGHTS = (
    "GSM8K is asked of the paper's model, whose weights are not at hand; the in-house model answers"
    " word problems of its own size"
)
COLUMNS = Table(
    (
        Column(
            name="questions", type="str", role="param",
            doc="word_problems: in-house, of one or two steps; gsm8k: the paper's.",
        ),
        Column(name="model", type="str", role="param", doc="What answers."),
        Column(
            name="weights", type="str", role="param",
            doc="vanilla: pre-trained alone; lisa: then tuned, in-house on text and on problems.",
        ),
        Column(
            name="decoding", type="str", role="param",
            doc="greedy: the most probable token; dola: what the last block adds.",
        ),
        Column(name="seed", type="int", role="seed", doc="Of tuning, and in-house of questions."),
        Column(
            name="lr", type="float", role="value", nullable=True,
            doc="Rate that Table 4 chose for this method; empty for what was not tuned here.",
        ),
        Column(
            name="exits", type="str", role="value",
            doc="Numbers of blocks after which DoLa may leave; the last is the whole model.",
        ),
        Column(
            name="accuracy", type="float", role="value",
            doc="Share of answers whose marked result is right.",
        ),
        Column(
            name="flexible_accuracy", type="float", role="value",
            doc="The same with the last number as the result of an answer; on gsm8k only where"
            " nothing is marked.",
        ),
        Column(
            name="unlike_greedy", type="float", role="value",
            doc="Share of answers that are not those of greedy decoding.",
        ),
        Column(name="num_questions", type="int", role="value", doc="How many were asked."),
    )
)  # fmt: skip
CLAIMS = (
    on_word_problems(
        "lisa_at_least_vanilla",
        "Under DoLa LISA's model solves at least as many word problems as the untuned one,"
        " the last number of an answer being its result.",
        where="Table 13",
        form="at_least",
        quantity=partial(lead_under_dola, questions="word_problems", value="flexible_accuracy"),
        bound=0.0,
        unit="share",
    ),
    on_word_problems(
        "lisa_at_least_vanilla_marked",
        "The same where only a marked result counts, as the untuned model was never shown.",
        where="Table 13",
        form="at_least",
        quantity=partial(lead_under_dola, questions="word_problems", value="accuracy"),
        bound=0.0,
        unit="share",
    ),
    flat_claim(
        id="lisa_at_least_vanilla_gsm8k",
        statement="Under DoLa LISA's model solves at least as many of 100 questions of GSM8K as the"
        " untuned one.",
        where="Table 13; threshold: ours, see DEV-04",
        form="at_least",
        grade="empirical",
        quantity=partial(lead_under_dola, questions="gsm8k", value="flexible_accuracy"),
        threshold=0.0,
        threshold_from="theory",
        profiles=PAPER,
        out_of_profile=NO_WEIGHTS,
        unit="share",
    ),
)


def view(frames: Tables) -> pd.DataFrame:
    """Return a row a model, decoding and seed."""
    import pandas as pd

    parts = [frames[one.id] for one in (experiment, given) if len(frames[one.id])]
    return pd.concat(parts)[COLUMNS.names] if parts else pd.DataFrame(columns=COLUMNS.names)


def draw(context: FigureContext) -> Figure:
    """Draw the runs of each model and decoding."""
    from reproductions.lisa.finetuning.figures import end_points

    words = {"vanilla": "untuned", "lisa": "LISA", "greedy": "greedy", "dola": "DoLa"}
    groups = [
        (f"{words[str(weights)]}\n{words[str(decoding)]}", rows)
        for (weights, decoding), rows in context.table.groupby(["weights", "decoding"], sort=False)
    ]
    return end_points(context, groups, value="flexible_accuracy", label="share of right answers")


task = old_task(
    id="lisa/tab13",
    title="GSM8K with DoLa's early exits",
    reads=(experiment, given),
    columns=COLUMNS,
    claims=CLAIMS,
    view=view,
    figure=draw,
    caption="Answers whose last number is right, decoded greedily and by DoLa, before and after"
    " tuning. Word problems of our own unless the profile is the paper's, which has GSM8K. Dots:"
    " runs, over seeds; lines: their mean.",
    alt="Share of right answers of the untuned model and of LISA's, greedy and by DoLa.",
)
