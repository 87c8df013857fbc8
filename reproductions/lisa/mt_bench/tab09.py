"""Table 9: MT-Bench by category, LLaMA-2-70B."""

from functools import partial

from harness.declare import Task, at_least, bind, claims
from reproductions.lisa.models.claims import HANDED_IN
from reproductions.lisa.models.names import LARGEST
from reproductions.lisa.mt_bench import table
from reproductions.lisa.mt_bench.experiment import given_70b, tuned, untuned
from reproductions.lisa.mt_bench.quantities import leads

OFF_A_CHART = "They were read off a radar chart, to about 0.15 points."
task = Task(
    "lisa/tab09",
    reads=(untuned, tuned, given_70b),
    table=table.BY_CATEGORY,
    layout=table.category_layout(LARGEST, ours=True, notes=(OFF_A_CHART,)),
    claims=claims(
        "Tables 5 and 9",
        (
            "lisa_leads_at_70b",
            HANDED_IN,
            at_least(
                partial(leads, model=LARGEST, one="lisa", others=("lora", "full")), 0, "points"
            )
            .naming("over LoRA", "over full training")
            .measuring("LISA's mean rating less the other's"),
            "On LLaMA-2-70B LISA scores at least as high on MT-Bench as LoRA and full training.",
        ),
    ),
    figure=bind("figures:rating_panels", by="category"),
    caption="As Table 8, of LLaMA-2-70B. Hollow and dashed: an early version of the paper, read"
    " off a radar chart, without coding.",
    alt="Mean MT-Bench rating in each category, a line per method; in the early version's chart of"
    " LLaMA-2-70B math is by far the lowest category, and LISA leads in four of seven.",
)
