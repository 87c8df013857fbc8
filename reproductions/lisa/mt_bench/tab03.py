"""Table 3: MT-Bench, mean ratings."""

from dataclasses import replace
from functools import partial

from harness.declare import Task, at_least, bind, claims, within
from reproductions.lisa.models.claims import HANDED_IN
from reproductions.lisa.models.names import THREE, TITLES
from reproductions.lisa.mt_bench import quantities as q
from reproductions.lisa.mt_bench import table
from reproductions.lisa.mt_bench.experiment import given, tuned, untuned

PRINTED = replace(HANDED_IN, threshold_from="paper", deviation="")
"""LISA's gain over LoRA stands in the proceedings' text."""
task = Task(
    "lisa/tab03",
    reads=(untuned, tuned, given),
    table=table.AVERAGES,
    layout=table.AVERAGE_LAYOUT,
    claims=claims(
        "Table 3 and section 4.2",
        (
            "full_beats_lora_lisa_both",
            q.RATED,
            at_least(partial(q.steps, methods=("lora", "full", "lisa")), 0, "points")
            .naming(
                *(
                    f"{TITLES[model]}, {step}"
                    for model in THREE
                    for step in ("full over LoRA", "LISA over full")
                )
            )
            .measuring("difference of the mean ratings"),
            "On MT-Bench full training is ahead of LoRA, and LISA ahead of full training.",
        ),
    )
    + claims(
        "Table 3 and abstract",
        (
            "gain_over_lora",
            PRINTED,
            within(partial(q.gains_percent, one="lisa", other="lora"), 10, 35, "percent").naming(
                *(TITLES[model] for model in THREE)
            ),
            "On MT-Bench LISA scores 10 to 35 % higher than LoRA.",
        ),
    ),
    figure=bind("figures:rating_panels", by="method"),
    caption="Mean rating of 160 answers by a judge model, from 1 to 10, by method. Filled: ours,"
    " mean and standard error over training seeds. Hollow: an early version of the paper, without"
    " coding and by another judge. A panel without filled marks has no rating.",
    alt="One panel per model with the mean MT-Bench rating of the untuned model, LoRA, GaLore, LISA"
    " and full training; in the early version LISA is highest on each model.",
)
