"""Table 8: MT-Bench by category."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least
from reproductions.lisa.models.names import QUALITY, THREE
from reproductions.lisa.mt_bench import table
from reproductions.lisa.mt_bench.claims import judged
from reproductions.lisa.mt_bench.experiment import ratings
from reproductions.lisa.mt_bench.quantities import lead_by_kind

MEMORISED, REASONED = ("writing", "humanities"), ("math", "coding")
lead = partial(lead_by_kind, one="lisa", other="lora", kinds=(MEMORISED, REASONED))
BY_KIND = (
    judged(
        "Table 8, and the text on it",
        model,
        "memorising_over_reasoning",
        at_least(partial(lead, model=model), 0, "points"),
        "LISA's lead over LoRA in writing and humanities is no smaller than in math and coding",
    )
    for model in (QUALITY, *THREE)
)
task = Task(
    "lisa/tab08",
    reads=ratings.with_given,
    table=table.BY_CATEGORY,
    layout=table.category_layout(*THREE),
    claims=sum(BY_KIND, ()),
    figure="figures:category_panels",
    caption="Mean rating by a judge model of the 20 answers of a category, from 1 to 10, by"
    " method. Filled: ours, mean and standard error over training seeds. Hollow and dashed: an"
    " early version of the paper, without coding. A panel without filled marks has no rating, as"
    " no judge was asked.",
    alt="One panel per model with the mean MT-Bench rating in each category, a line per method; in"
    " the early version math is the lowest category of nearly every method.",
)
