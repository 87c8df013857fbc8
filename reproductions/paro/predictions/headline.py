"""The headline: 266 %, read both ways, and what computation time the formulas would need."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_most, claims, equal
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import compute_times
from reproductions.paro.predictions.headline_layouts import (
    QUOTED_LAYOUT,
    READINGS_LAYOUT,
    VERSIONS_LAYOUT,
)
from reproductions.paro.predictions.scopes import EXACT, NEAR
from reproductions.paro.predictions.table import COMPUTE

HEADLINE: q.Where = {
    "model": "LLaMA-65B",
    "trainable": "1/16",
    "strategy": "IIG",
    "baseline": "GGG",
    "world": "flat",
}
OVERLAPS = {"max": "with overlap", "sum": "without"}

task = Task(
    "paro/headline",
    own_kind="theory",
    reads=(compute_times,),
    table=COMPUTE,
    layout=(READINGS_LAYOUT, VERSIONS_LAYOUT, QUOTED_LAYOUT),
    claims=claims(
        "abstract and section 4.3 of the NeurIPS 2024 version",
        (
            "both_readings_attained",
            EXACT,
            equal(partial(q.attained, where=HEADLINE), 0, "relative difference", tolerance=1e-6),
            "Some time of computation makes IIG 2.66 times as fast as ZeRO-3, and another 3.66"
            " times.",
        ),
    )
    + claims(
        "ours, beside section 4.3",
        (
            "one_compute_time",
            NEAR,
            at_most(
                partial(q.compute_apart, assemblies=tuple(OVERLAPS)), 1.05, "times the seconds"
            )
            .naming(
                *(
                    f"{model}, {'all' if share == '1' else share} trained, {words}"
                    for words in OVERLAPS.values()
                    for model, share in q.SEVERAL
                )
            )
            .measuring("longest time that a gain needs over the shortest"),
            "One time of computation gives all gains quoted for one model and trainable share.",
        ),
    ),
)  # fmt: skip
