"""Table 9: MT-Bench by category, LLaMA-2-70B."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least
from reproductions.lisa.models.names import LARGEST
from reproductions.lisa.mt_bench import table
from reproductions.lisa.mt_bench.claims import judged
from reproductions.lisa.mt_bench.experiment import ratings
from reproductions.lisa.mt_bench.quantities import lead

NO_LOWER = (
    judged(
        "Tables 5 and 9",
        LARGEST,
        f"lisa_at_least_{other}",
        at_least(partial(lead, model=LARGEST, one="lisa", other=other), 0, "points"),
        f"LISA's mean rating is no lower than that of {words}",
    )
    for other, words in (("lora", "LoRA"), ("full", "full training"))
)
OFF_A_CHART = "They were read off a radar chart, to about 0.15 points."
task = Task(
    "lisa/tab09",
    reads=ratings.with_largest,
    table=table.BY_CATEGORY,
    layout=table.category_layout(LARGEST, ours=True, notes=(OFF_A_CHART,)),
    claims=sum(NO_LOWER, ()),
    figure="figures:category_panels",
    caption="As Table 8, of the largest model: the paper's at `paper`, handed in and on one GPU"
    " that holds its 138 GB, else the in-house model, about which no claim is made here. Hollow"
    " and dashed: an early version of the paper, read off a radar chart, without coding.",
    alt="Mean MT-Bench rating in each category, a line per method; in the early version's chart of"
    " LLaMA-2-70B math is by far the lowest category, and LISA leads in four of seven.",
)
