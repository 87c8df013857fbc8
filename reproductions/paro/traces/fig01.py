"""Figure 1: a step by IIG and by NIG, as four ranks noted it."""

from harness.declare import (
    SMALL_CHECK,
    Table,
    Task,
    at_most,
    claims,
    columns_of,
    equal,
    measured,
    param,
    value,
)
from reproductions.paro.traces import quantities as q
from reproductions.paro.traces.experiment import Step, traced_steps

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
            SMALL_CHECK,
            equal(q.unlike_caption, 0, "sequences"),
            "IIG and NIG run the collectives of the caption in its order: within groups in both"
            " passes, between groups around the update.",
        ),
        (
            "as_scheduled",
            SMALL_CHECK,
            at_most(q.off_schedule, 0, "collectives").naming(
                "unlike the schedule", "unlike other ranks"
            ),
            "Every rank runs the collectives of the planner's schedule, for the same units in the"
            " same order.",
        ),
    ),
    figure="figures:step_tracks",
    caption="One optimizer step of two micro-batches on four ranks in two groups: when each rank"
    " computes, and when it communicates within its group, between groups or with all. We check"
    " the order of events, not how long they take.",
    alt="Two panels of bars along time, four ranks each. IIG: gathers and reductions within groups"
    " beside both micro-batches, then one reduction between groups, the update, and one gather"
    " between groups. NIG: only reductions within groups beside the passes, and at the end a gather"
    " from all ranks.",
)
