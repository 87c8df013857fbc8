"""Table 8: MT-Bench by category."""

from functools import partial

from harness.declare import Task, at_least, bind, claims
from reproductions.lisa.models.names import THREE, TITLES
from reproductions.lisa.mt_bench import table
from reproductions.lisa.mt_bench.experiment import given, tuned, untuned
from reproductions.lisa.mt_bench.quantities import RATED, leads_by_kind

MEMORISED, REASONED = ("writing", "humanities"), ("math", "coding")
task = Task(
    "lisa/tab08",
    reads=(untuned, tuned, given),
    table=table.BY_CATEGORY,
    layout=table.category_layout(*THREE),
    claims=claims(
        "Table 8, and the text on it",
        (
            "memorising_over_reasoning",
            RATED,
            at_least(
                partial(leads_by_kind, one="lisa", other="lora", kinds=(MEMORISED, REASONED)),
                0,
                "points",
            )
            .naming(*(TITLES[model] for model in THREE))
            .measuring("lead in the first two less that in the others"),
            "LISA leads LoRA by more in writing and humanities than in math and coding.",
        ),
    ),
    figure=bind("figures:rating_panels", by="category"),
    caption="Mean rating of a category's 20 answers by a judge model, from 1 to 10, by method."
    " Filled: ours, mean and standard error over training seeds. Hollow and dashed: an early"
    " version of the paper, without coding. A panel without filled marks has no rating.",
    alt="One panel per model with the mean MT-Bench rating in each category, a line per method; in"
    " the early version math is the lowest category of nearly every method.",
)
