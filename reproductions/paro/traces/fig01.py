"""Figure 1: a step by IIG and by NIG, as four ranks noted it."""

from __future__ import annotations

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Table,
    Task,
    claims,
    columns_of,
    equal,
    measured,
    param,
    value,
)
from reproductions.paro.traces import quantities as q
from reproductions.paro.traces.experiment import Step, traced_steps

EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere="a larger scale shows nothing new of an order")
task = Task(
    "paro/fig01",
    reads=(traced_steps,),
    table=Table.of(
        columns_of(Step),
        param("strategy", str, "Three letters."),
        param("rank", int, "Who noted it."),
        param("track", str, "communication: collectives and the update; computation: passes."),
        param("place", int, "In the track's order on this rank, from 0."),
        value("done", str, "Term, kind and scope of a collective; or the pass, or the update."),
        value("planned", str, "What the schedule has there; nothing for computation."),
        value("num_planned", int, "Collectives and updates that the schedule has, of a rank."),
        value("units", str, "Whose."),
        value("sent_bytes", int, "That this rank sent."),
        measured("start_ms", float, "From the step's first event of any rank."),
        measured("end_ms", float, "From there too."),
    ),
    claims=claims(
        "caption of Figure 1",
        (
            "as_the_caption_says",
            EXACT,
            equal(q.unlike_caption, 0, "sequences"),
            "IIG gathers parameters within groups in both passes and reduces gradients within"
            " them, after the last micro-batch reduces between groups, updates, and gathers between"
            " groups; NIG gathers none in the passes, and after the update from all ranks (units"
            " and ranks whose order differs).",
        ),
        (
            "as_scheduled",
            EXACT,
            equal(q.unplanned, 0, "collectives"),
            "Every rank runs the collectives of the schedule that Tables 4 to 7 and the planner"
            " rest on, in its order, and no other (how many differ or lack).",
        ),
        (
            "ranks_agree",
            EXACT,
            equal(q.ranks_apart, 0, "places"),
            "All ranks run the collectives of the same units in the same order, also those that"
            " run ahead of the passes.",
        ),
    ),
    figure="figures:step_tracks",
    caption="An optimizer step of two micro-batches on four ranks of gloo in two groups, drawn"
    " from the engine's own trace: when each rank computes, and when it communicates within its"
    " group, between groups and with all. One step on a CPU: its order is checked, its times are"
    " not compared. Units are gathered ahead.",
    alt="Two panels of bars along time, four ranks each. IIG: bars of gathers and reductions within"
    " groups beside passes of both micro-batches, then one reduction between groups, the update,"
    " and one gather between groups. NIG: only reductions within groups beside the passes, and in"
    " the end a gather from all ranks.",
)
