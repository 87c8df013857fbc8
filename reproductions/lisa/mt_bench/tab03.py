"""Table 3: MT-Bench, mean ratings."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import Task, ordering, within
from reproductions.lisa.models.names import QUALITY, THREE
from reproductions.lisa.mt_bench import quantities as q
from reproductions.lisa.mt_bench import table
from reproductions.lisa.mt_bench.claims import HANDED_IN, judged
from reproductions.lisa.mt_bench.experiment import ratings

ASCENDING = ("lora", "full", "lisa")
PRINTED = replace(HANDED_IN, threshold_from="paper", deviation="")
"""LISA's gain over LoRA stands in the proceedings' text."""
ORDERED = (
    judged(
        "Table 3 and section 4.2",
        model,
        "lisa_full_lora",
        ordering(partial(q.ordered, model=model, methods=ASCENDING), "points"),
        "The mean rating does not fall from LoRA to full training, and from there to LISA,",
    )
    for model in (QUALITY, *THREE)
)
GAINS = (
    judged(
        "Table 3 and abstract",
        model,
        "gain_over_lora",
        within(partial(q.gain_percent, model=model, one="lisa", other="lora"), 10, 35, "percent"),
        "LISA's mean rating lies 10 to 35 % above LoRA's",
        scope=PRINTED,
    )
    for model in THREE
)
task = Task(
    "lisa/tab03",
    reads=ratings.with_given,
    table=table.AVERAGES,
    layout=table.AVERAGE_LAYOUT,
    claims=sum((*ORDERED, *GAINS), ()),
    figure="figures:average_panels",
    caption="Mean rating by a judge model of 160 answers, from 1 to 10, by method. Filled: ours,"
    " mean and standard error over training seeds. Hollow: an early version of the paper, without"
    " coding; another judge and other models than ours. A panel without filled marks has no"
    " rating, as no judge was asked.",
    alt="One panel per model with the mean MT-Bench rating of the untuned model, LoRA, GaLore, LISA"
    " and full training; in the early version LISA is highest on each model.",
)
